#include "python/extension/query.h"

#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>

#include "profiler/store/read_sql.h"
#include "profiler/store/store.h"
#include "python/extension/arrow.h"
#include "python/extension/columns.h"

namespace xlaprof::python {
namespace {

PyTypeObject* columns_type = nullptr;

// ---- Columns ----

struct ColumnsObject {
  PyObject object;
  std::shared_ptr<const Columns> columns;
};

const std::shared_ptr<const Columns>& ColumnsIn(PyObject* object) {
  return reinterpret_cast<ColumnsObject*>(object)->columns;
}

PyObject* MakeColumns(std::shared_ptr<const Columns> columns) {
  PyObject* object = PyType_GenericAlloc(columns_type, 0);
  if (object == nullptr) return nullptr;
  new (&reinterpret_cast<ColumnsObject*>(object)->columns)
      std::shared_ptr<const Columns>(std::move(columns));
  return object;
}

void FreeColumns(PyObject* object) {
  std::destroy_at(&reinterpret_cast<ColumnsObject*>(object)->columns);
  PyTypeObject* type = Py_TYPE(object);
  PyObject_Free(object);
  Py_DECREF(type);
}

// A capsule owns a structure, which it releases unless a consumer has moved it elsewhere.
template <class Structure>
void FreeCapsule(PyObject* capsule) {
  auto* structure =
      static_cast<Structure*>(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
  if (structure->release != nullptr) structure->release(structure);
  delete structure;
}
template <class Structure>
PyObject* Capsule(std::unique_ptr<Structure> structure, const char* name) {
  PyObject* capsule = PyCapsule_New(structure.get(), name, FreeCapsule<Structure>);
  if (capsule == nullptr) {
    structure->release(structure.get());
  } else {
    structure.release();
  }
  return capsule;
}

PyObject* SchemaCapsule(PyObject* self, PyObject* /*none*/) {
  auto schema = std::make_unique<ArrowSchema>();
  ExportSchema(*ColumnsIn(self), schema.get());
  return Capsule(std::move(schema), "arrow_schema");
}

// The schema that a consumer asks for is a wish, which may be ignored.
PyObject* StreamCapsule(PyObject* self, PyObject* const* /*args*/, Py_ssize_t /*count*/,
                        PyObject* /*names*/) {
  auto stream = std::make_unique<ArrowArrayStream>();
  ExportStream(ColumnsIn(self), stream.get());
  return Capsule(std::move(stream), "arrow_array_stream");
}

PyObject* ArrayCapsules(PyObject* self, PyObject* const* /*args*/, Py_ssize_t /*count*/,
                        PyObject* /*names*/) {
  Owned schema(SchemaCapsule(self, nullptr));
  if (!schema) return nullptr;
  auto array = std::make_unique<ArrowArray>();
  ExportArray(ColumnsIn(self), array.get());
  Owned capsule(Capsule(std::move(array), "arrow_array"));
  if (!capsule) return nullptr;
  return PyTuple_Pack(2, schema.get(), capsule.get());
}

PyObject* ValueAt(const Column& column, size_t row) {
  if (column.IsNull(row)) Py_RETURN_NONE;
  const std::string_view text =
      column.type >= ColumnType::kText ? column.Text(row) : std::string_view();
  switch (column.type) {
    case ColumnType::kNull:
      break;
    case ColumnType::kInt:
      return PyLong_FromLongLong(column.ints[row]);
    case ColumnType::kDouble:
      return PyFloat_FromDouble(column.doubles[row]);
    case ColumnType::kText:
      return PyUnicode_FromStringAndSize(text.data(), Py_ssize_t(text.size()));
    case ColumnType::kBytes:
      return PyBytes_FromStringAndSize(text.data(), Py_ssize_t(text.size()));
  }
  Py_RETURN_NONE;
}

PyObject* Names(PyObject* self, void* /*closure*/) {
  const auto& columns = ColumnsIn(self)->columns;
  PyObject* names = PyTuple_New(Py_ssize_t(columns.size()));
  for (size_t i = 0; names != nullptr && i < columns.size(); ++i) {
    PyObject* name =
        PyUnicode_DecodeUTF8(columns[i].name.data(), Py_ssize_t(columns[i].name.size()), "replace");
    if (name == nullptr || PyTuple_SetItem(names, Py_ssize_t(i), name) != 0) {
      Py_DECREF(names);
      return nullptr;
    }
  }
  return names;
}

Py_ssize_t RowCount(PyObject* self) { return Py_ssize_t(ColumnsIn(self)->rows); }

// Returns a row as a tuple. Python's sequences count from the end, too, before they call this.
PyObject* RowAt(PyObject* self, Py_ssize_t row) {
  const Columns& columns = *ColumnsIn(self);
  if (row < 0 || row >= columns.rows) {
    PyErr_SetString(PyExc_IndexError, "there is no such row");
    return nullptr;
  }
  PyObject* values = PyTuple_New(Py_ssize_t(columns.columns.size()));
  for (size_t i = 0; values != nullptr && i < columns.columns.size(); ++i) {
    PyObject* value = ValueAt(columns.columns[i], size_t(row));
    if (value == nullptr || PyTuple_SetItem(values, Py_ssize_t(i), value) != 0) {
      Py_DECREF(values);
      return nullptr;
    }
  }
  return values;
}

PyTypeObject* MakeColumnsType() {
  static PyMethodDef methods[] = {
      {"__arrow_c_schema__", SchemaCapsule, METH_NOARGS, "Returns an ArrowSchema in a capsule."},
      {"__arrow_c_stream__", Method(StreamCapsule), METH_FASTCALL | METH_KEYWORDS,
       "Returns an ArrowArrayStream in a capsule."},
      {"__arrow_c_array__", Method(ArrayCapsules), METH_FASTCALL | METH_KEYWORDS,
       "Returns an ArrowSchema and an ArrowArray in capsules."},
      {nullptr, nullptr, 0, nullptr}};
  static PyGetSetDef attributes[] = {{const_cast<char*>("names"), Names, nullptr,
                                      const_cast<char*>("The columns' names."), nullptr},
                                     {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyType_Slot slots[] = {
      {Py_tp_doc,
       const_cast<char*>("A result of SQL: a sequence of rows, which Arrow's readers take "
                         "without a copy.")},
      {Py_tp_dealloc, reinterpret_cast<void*>(FreeColumns)},
      {Py_tp_methods, methods},
      {Py_tp_getset, attributes},
      {Py_sq_length, reinterpret_cast<void*>(RowCount)},
      {Py_sq_item, reinterpret_cast<void*>(RowAt)},
      {0, nullptr}};
  static PyType_Spec spec = {"xlaprof._xlaprof.Columns", sizeof(ColumnsObject), 0,
                             Py_TPFLAGS_DEFAULT, slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

// ---- Store ----

struct OpenStore {
  std::mutex mutex;  // one thread reads at a time
  Store store;
};
struct StoreObject {
  PyObject object;
  std::unique_ptr<OpenStore> open;
};

// Lets the user interrupt a long statement.
int CheckSignals(void* is_interrupted) {
  const PyGILState_STATE state = PyGILState_Ensure();
  const bool has_error = PyErr_CheckSignals() != 0;
  PyGILState_Release(state);
  if (has_error) *static_cast<bool*>(is_interrupted) = true;
  return has_error;
}

struct Answer {
  absl::Status status;
  std::string damage;
  bool is_interrupted = false;
};

// Runs without Python's lock.
Answer Run(OpenStore& open, const std::string& sql, ColumnsOfResult& results) {
  constexpr int kInstructions = 1'000'000;  // some ms between two checks
  Answer answer;
  std::lock_guard lock(open.mutex);
  sqlite3* db = open.store.db();
  sqlite3_progress_handler(db, kInstructions, CheckSignals, &answer.is_interrupted);
  bool has_results = false;
  answer.status = ReadSql(open.store, sql, results, &has_results);
  sqlite3_progress_handler(db, 0, nullptr, nullptr);
  const auto damaged = open.store.One<int64_t>("SELECT xlaprof_chunks_damaged()");
  if (damaged.ok() && damaged->value_or(0) > 0) {
    answer.damage = fmt::format(
        "{} damaged chunks of this store were left out: the result lacks their events", **damaged);
  }
  return answer;
}

PyObject* Sql(PyObject* self, PyObject* text) {
  if (PyUnicode_Check(text) == 0) {
    PyErr_SetString(PyExc_TypeError, "sql() takes a str");
    return nullptr;
  }
  OpenStore& open = *reinterpret_cast<StoreObject*>(self)->open;
  const std::string sql(Utf8(text));
  ColumnsOfResult results;
  Answer answer;
  Py_BEGIN_ALLOW_THREADS;
  answer = Run(open, sql, results);
  Py_END_ALLOW_THREADS;
  if (answer.is_interrupted) return nullptr;  // the signal's handler has raised
  if (!answer.status.ok()) return Raise(PyExc_ValueError, answer.status);
  const Owned columns(MakeColumns(results.Take()));
  if (!columns) return nullptr;
  return Py_BuildValue("(Os)", columns.get(), answer.damage.c_str());
}

PyObject* NewStore(PyTypeObject* type, PyObject* args, PyObject* /*names*/) {
  PyObject* path = nullptr;
  if (PyArg_ParseTuple(args, "U:Store", &path) == 0) return nullptr;
  const Owned bytes(PyUnicode_EncodeFSDefault(path));
  if (!bytes) return nullptr;
  const std::string where = PyBytes_AsString(bytes.get());
  std::optional<absl::StatusOr<Store>> store;
  Py_BEGIN_ALLOW_THREADS;
  store = Store::Open(where);
  Py_END_ALLOW_THREADS;
  if (!store->ok()) return Raise(PyExc_OSError, store->status());
  PyObject* object = PyType_GenericAlloc(type, 0);
  if (object == nullptr) return nullptr;
  auto& open = reinterpret_cast<StoreObject*>(object)->open;
  new (&open) std::unique_ptr<OpenStore>(new OpenStore{{}, **std::move(store)});
  return object;
}

void FreeStore(PyObject* object) {
  std::destroy_at(&reinterpret_cast<StoreObject*>(object)->open);
  PyTypeObject* type = Py_TYPE(object);
  PyObject_Free(object);
  Py_DECREF(type);
}

PyTypeObject* MakeStoreType() {
  static PyMethodDef methods[] = {
      {"sql", Sql, METH_O,
       "sql($self, text, /)\n--\n\nRuns statements, and returns the last result and what is damaged."},
      {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("Store(path): a store that is read.")},
      {Py_tp_new, reinterpret_cast<void*>(NewStore)},
      {Py_tp_dealloc, reinterpret_cast<void*>(FreeStore)},
      {Py_tp_methods, methods},
      {0, nullptr}};
  static PyType_Spec spec = {"xlaprof._xlaprof.Store", sizeof(StoreObject), 0, Py_TPFLAGS_DEFAULT,
                             slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

}  // namespace

bool AddQuery(PyObject* module) {
  static PyTypeObject* store_type = nullptr;
  if (columns_type == nullptr) columns_type = MakeColumnsType();
  if (store_type == nullptr) store_type = MakeStoreType();
  if (columns_type == nullptr || store_type == nullptr) return false;
  Py_INCREF(columns_type);
  Py_INCREF(store_type);
  return PyModule_AddObject(module, "Columns", reinterpret_cast<PyObject*>(columns_type)) == 0 &&
         PyModule_AddObject(module, "Store", reinterpret_cast<PyObject*>(store_type)) == 0;
}

}  // namespace xlaprof::python
