#include "python/extension/names.h"

#include <array>
#include <cstring>
#include <string>

#include "profiler/record/sites.h"

namespace xlaprof::python {
namespace {

constexpr Category kCategories[] = {Category::kScope, Category::kStep, Category::kNone};

PyTypeObject* place_type = nullptr;
PyObject *find_line = nullptr, *text_of_value = nullptr;

// A name at a place that is known before it is used: that of a decorated function.
struct Place {
  PyObject object;
  PyObject *name, *file, *function;
  int line, is_in_coroutine;
  uint32_t sites[3];  // by Use; 0: not asked for yet
};

// Numbers of names by the identity of their objects. An entry owns both objects, so that no other
// object can have their addresses. A newer name replaces an older one in the same entry. Python's
// lock guards it.
struct Known {
  PyObject* name = nullptr;
  PyObject* code = nullptr;  // null: without a place
  bool is_in_coroutine = false;
  uint32_t sites[3] = {};
};
std::array<Known, 1024> known;

Known& EntryOf(PyObject* name, PyObject* code) {
  const uint64_t mixed = (reinterpret_cast<uintptr_t>(name) >> 4) * 0x9e3779b97f4a7c15 ^
                         (reinterpret_cast<uintptr_t>(code) >> 4) * 0xc2b2ae3d27d4eb4f;
  return known[size_t(mixed >> 54)];
}

// Texts by the identity of their objects, for the keys of arguments, which are literals.
struct KnownText {
  PyObject* text = nullptr;
  uint32_t number = 0;
};
std::array<KnownText, 256> known_texts;

std::string TextAttribute(PyObject* object, const char* name) {
  const Owned value(PyObject_GetAttrString(object, name));
  if (!value || PyUnicode_Check(value.get()) == 0) {
    PyErr_Clear();
    return "";
  }
  return std::string(Utf8(value.get()));
}

// Returns the name of a code object's function with its classes, which Python knows since 3.11.
std::string FunctionOf(PyObject* code) {
  std::string name = TextAttribute(code, "co_qualname");
  return name.empty() ? TextAttribute(code, "co_name") : name;
}

// Keeps what is known of a code object, like the names. A name that is made at run time is a new object
// each time, so this decides quickly that it is no literal.
struct KnownCode {
  PyObject* code = nullptr;
  PyObject* literals = nullptr;  // a tuple, or null
  bool is_coroutine = false;
};
std::array<KnownCode, 256> known_codes;

const KnownCode& FactsOf(PyObject* code) {
  KnownCode& entry = known_codes[(reinterpret_cast<uintptr_t>(code) >> 4) % known_codes.size()];
  if (entry.code == code) [[likely]]
    return entry;
  constexpr long kCoroutine = 0x80, kAsyncGenerator = 0x200;  // inspect.CO_COROUTINE and so on
  Owned literals(PyObject_GetAttrString(code, "co_consts"));
  const Owned flags(PyObject_GetAttrString(code, "co_flags"));
  const long value = flags ? PyLong_AsLong(flags.get()) : 0;
  if (PyErr_Occurred() != nullptr) PyErr_Clear();
  const bool has_literals = literals && PyTuple_Check(literals.get()) != 0;
  const KnownCode old = entry;
  Py_INCREF(code);
  entry = {code, has_literals ? literals.release() : nullptr,
           (value & (kCoroutine | kAsyncGenerator)) != 0};
  Py_XDECREF(old.code);
  Py_XDECREF(old.literals);
  return entry;
}

bool IsLiteralOf(PyObject* code, PyObject* name) {
  PyObject* literals = FactsOf(code).literals;
  const Py_ssize_t count = literals != nullptr ? PyTuple_Size(literals) : 0;
  for (Py_ssize_t i = 0; i < count; ++i)
    if (PyTuple_GetItem(literals, i) == name) return true;
  return false;
}

// Returns the line at which `code` uses `name`, or 0 if that is not known.
int LineOf(PyObject* code, PyObject* name) {
  if (find_line == nullptr || !IsLiteralOf(code, name)) return 0;
  const Owned line(PyObject_CallFunctionObjArgs(find_line, code, name, nullptr));
  const long number = line ? PyLong_AsLong(line.get()) : 0;
  if (PyErr_Occurred() != nullptr) PyErr_Clear();
  return number > 0 && number <= INT32_MAX ? int(number) : 0;
}

uint32_t AddSite(PyObject* name, PyObject* code, Use use) {
  const Category category = kCategories[size_t(use)];
  const int line = code == nullptr ? 0 : LineOf(code, name);
  if (line == 0) return SiteOfName(category, Utf8(name));
  return record::Sites::Get().OfName(category, Utf8(name), TextAttribute(code, "co_filename"), line,
                                     FunctionOf(code));
}

NamedPlace Find(PyObject* name, PyObject* code, Use use) {
  Known& entry = EntryOf(name, code);
  const bool is_known = entry.name == name && entry.code == code;
  if (is_known && entry.sites[size_t(use)] != 0) [[likely]]
    return {entry.sites[size_t(use)], entry.is_in_coroutine};
  const NamedPlace added{AddSite(name, code, use), code != nullptr && FactsOf(code).is_coroutine};
  // Python code that ran meanwhile may have changed the entry.
  PyObject *old_name = entry.name, *old_code = entry.code;
  if (old_name != name || old_code != code) {
    Py_INCREF(name);
    Py_XINCREF(code);
    entry = {name, code, added.is_in_coroutine, {}};
  } else {
    old_name = old_code = nullptr;
  }
  entry.sites[size_t(use)] = added.site;
  Py_XDECREF(old_name);
  Py_XDECREF(old_code);
  return added;
}

NamedPlace SiteOfPlace(Place& place, Use use) {
  uint32_t& site = place.sites[size_t(use)];
  if (site == 0) {
    site = record::Sites::Get().OfName(kCategories[size_t(use)], Utf8(place.name), Utf8(place.file),
                                       place.line, Utf8(place.function));
  }
  return {site, place.is_in_coroutine != 0};
}

record::Value SlowValueOf(PyObject* value) {
  const Owned text(text_of_value != nullptr
                       ? PyObject_CallFunctionObjArgs(text_of_value, value, nullptr)
                       : nullptr);
  if (!text) {
    PyErr_Clear();
    return record::ArgOf(std::string_view("?"));
  }
  if (PyFloat_Check(text.get()) != 0) return record::ArgOf(PyFloat_AsDouble(text.get()));
  if (PyUnicode_Check(text.get()) != 0) return {TextOf(text.get()), XLAPROF_TEXT};
  const long long number = PyLong_AsLongLong(text.get());
  if (PyErr_Occurred() != nullptr) PyErr_Clear();
  return record::ArgOf(int64_t(number));
}

PyObject* NewPlace(PyTypeObject* type, PyObject* args, PyObject* /*names*/) {
  PyObject *name = nullptr, *file = nullptr, *function = nullptr;
  int line = 0, is_in_coroutine = 0;
  if (PyArg_ParseTuple(args, "UUiU|p:Place", &name, &file, &line, &function, &is_in_coroutine) == 0)
    return nullptr;
  auto* place = reinterpret_cast<Place*>(PyType_GenericAlloc(type, 0));
  if (place == nullptr) return nullptr;
  Py_INCREF(place->name = name);
  Py_INCREF(place->file = file);
  Py_INCREF(place->function = function);
  place->line = line, place->is_in_coroutine = is_in_coroutine;
  return reinterpret_cast<PyObject*>(place);
}

void FreePlace(PyObject* object) {
  auto* place = reinterpret_cast<Place*>(object);
  Py_XDECREF(place->name);
  Py_XDECREF(place->file);
  Py_XDECREF(place->function);
  PyTypeObject* type = Py_TYPE(object);
  PyObject_Free(object);
  Py_DECREF(type);
}

PyObject* SetHelpers(PyObject* /*module*/, PyObject* args) {
  PyObject *line = nullptr, *text = nullptr;
  if (PyArg_ParseTuple(args, "OO:set_helpers", &line, &text) == 0) return nullptr;
  Py_INCREF(line);
  Py_INCREF(text);
  Py_XDECREF(std::exchange(find_line, line));
  Py_XDECREF(std::exchange(text_of_value, text));
  Py_RETURN_NONE;
}

}  // namespace

NamedPlace SiteOf(PyObject* name, Use use) {
  if (Py_TYPE(name) == place_type) return SiteOfPlace(*reinterpret_cast<Place*>(name), use);
  PyFrameObject* frame = PyEval_GetFrame();  // borrowed
  if (frame == nullptr) return Find(name, nullptr, use);
  const Owned code(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  return Find(name, code.get(), use);
}

uint32_t SiteWithoutPlace(PyObject* name, Use use) { return Find(name, nullptr, use).site; }

uint32_t TextOf(PyObject* text) {
  KnownText& entry = known_texts[(reinterpret_cast<uintptr_t>(text) >> 4) % known_texts.size()];
  if (entry.text == text) return entry.number;
  const uint32_t number = RecordedString(Utf8(text));
  PyObject* old = entry.text;
  Py_INCREF(text);
  entry = {text, number};
  Py_XDECREF(old);
  return number;
}

record::Value ValueOf(PyObject* value) {
  if (PyFloat_Check(value) != 0) return record::ArgOf(PyFloat_AsDouble(value));
  if (PyUnicode_Check(value) != 0) return {TextOf(value), XLAPROF_TEXT};
  if (PyLong_Check(value) == 0) return SlowValueOf(value);
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow == 0) return record::ArgOf(int64_t(number));
  const double rounded = PyLong_AsDouble(value);  // beyond 64 bits
  if (PyErr_Occurred() != nullptr) PyErr_Clear();
  return record::ArgOf(rounded);
}

bool IsName(PyObject* object) {
  return PyUnicode_Check(object) != 0 || Py_TYPE(object) == place_type;
}

PyObject* TextOfName(PyObject* name) {
  return Py_TYPE(name) == place_type ? reinterpret_cast<Place*>(name)->name : name;
}

bool AddNames(PyObject* module) {
  static PyType_Slot slots[] = {
      {Py_tp_doc,
       const_cast<char*>(
           "Place(name, file, line, function, is_in_coroutine=False): a name at a known place.")},
      {Py_tp_new, reinterpret_cast<void*>(NewPlace)},
      {Py_tp_dealloc, reinterpret_cast<void*>(FreePlace)},
      {0, nullptr}};
  static PyType_Spec spec = {"xlaprof._xlaprof.Place", sizeof(Place), 0, Py_TPFLAGS_DEFAULT, slots};
  if (place_type == nullptr) place_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (place_type == nullptr) return false;
  Py_INCREF(place_type);
  if (PyModule_AddObject(module, "Place", reinterpret_cast<PyObject*>(place_type)) != 0)
    return false;
  static PyMethodDef functions[] = {
      {"set_helpers", SetHelpers, METH_VARARGS, "Takes the functions that find lines and texts."},
      {nullptr, nullptr, 0, nullptr}};
  return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace xlaprof::python
