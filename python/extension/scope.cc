// A scope costs little because nothing is allocated for it. Scopes that died are used again. The
// `with` statement looks up __enter__ and __exit__ of the type, and binding a method would allocate
// an object for each. Here, a descriptor binds both to the scope itself, which is called without
// arguments to enter and with three to leave.
#include "python/extension/scope.h"

#include <array>
#include <new>

#include "python/extension/names.h"

namespace xlaprof::python {
namespace {

using record::Ring;

// The recorder's part of a scope. A scope may end on another thread than it began, or after a scope
// that encloses it, because generators are left at any time; the recorder allows for that. A scope of
// a coroutine is a slice instead, which encloses nothing.
class Recorded : record::Scope {
 public:
  using Scope::RingNow;
  bool is_open() const { return ring_ != nullptr || slice_of_ != 0; }

  void Begin(Ring* ring, uint32_t site) { Scope::Begin(ring, site, record::kScope); }
  void BeginStep(Ring* ring, uint32_t site, uint64_t number) {
    value_ = number;
    Scope::Begin(ring, site, record::kStep);
    ring->OpenStep(depth(), number);
  }
  void BeginSlice(Ring* ring, uint32_t site) {
    slice_of_ = ring->recording();
    what_ = record::Slot::What(site, 0, record::kSlice);
    begin_ = record::Now();
  }
  // Adds an argument. Returns false if there is no room for it.
  bool Put(uint32_t key, record::Value value) { return args_.Put(key, value); }
  void CountLost(Py_ssize_t arguments) {
    Ring* ring = ring_ != nullptr ? ring_ : RingNow();
    for (; ring != nullptr && arguments > 0; --arguments) ring->DropArg();
  }
  void End() {
    const uint64_t end = record::Now();
    Ring* ring = std::exchange(ring_, nullptr);
    const uint64_t what = what_ | record::Slot::Bits(args_.count());
    if (ring != nullptr && ring == record::ring_of_thread) [[likely]] {
      ring->Publish(begin_, end, value_, what, args_.slots(), args_.slot_count());
      ring->Close(depth());
    } else if (ring != nullptr) {
      ring->PublishElsewhere(begin_, end, value_, what, args_.slots(), args_.slot_count());
    } else if (std::exchange(slice_of_, 0) == record::recording.load(std::memory_order_relaxed)) {
      if (Ring* here = RingNow(); here != nullptr)
        here->Publish(begin_, end, 0, what, args_.slots(), args_.slot_count());
    }
    value_ = 0;
    if (args_.count() != 0) new (&args_) record::Args;
  }

 private:
  uint64_t value_ = 0;     // a step's number
  uint32_t slice_of_ = 0;  // the recording in which a slice began; 0: this is no slice
  record::Args args_;
};

struct Callable {
  PyObject object;
  Vectorcall call;
};
struct ScopeObject {
  Callable callable;
  PyObject* name;   // a str or a Place
  PyObject* keys;   // a tuple, or null if there are no arguments
  PyObject* value;  // the step's number; null: this is not a step
  PyObject* values[record::kMaxArgs];
  Py_ssize_t lost;  // arguments for which there is no room
  bool is_entered;
  Recorded recorded;
};

PyTypeObject* scope_type = nullptr;
PyObject *wrap = nullptr, *thread_name = nullptr, *after_step = nullptr;
std::array<ScopeObject*, 64> unused;  // Python's lock guards it
size_t unused_count = 0;

ScopeObject* AsScope(PyObject* object) { return reinterpret_cast<ScopeObject*>(object); }

Py_ssize_t CountOfValues(const ScopeObject& scope) {
  return scope.keys == nullptr ? 0 : PyTuple_Size(scope.keys) - scope.lost;
}

// Returns how many of the arguments had no room.
[[gnu::noinline]] Py_ssize_t AddArguments(Recorded& recorded, PyObject* keys,
                                          PyObject* const* values, Py_ssize_t count) {
  Py_ssize_t lost = 0;
  for (Py_ssize_t i = 0; i < count; ++i)
    lost += !recorded.Put(TextOf(PyTuple_GetItem(keys, i)), ValueOf(values[i]));
  return lost;
}

// Python code may run while the site and the arguments are found, and may end the recording. So the
// ring is asked for after that.
void Begin(ScopeObject* scope) {
  if (record::ring_of_thread == nullptr) [[unlikely]]
    NameThisThread();
  Recorded& recorded = scope->recorded;
  const bool is_step = scope->value != nullptr;
  const uint64_t number = is_step ? ValueOf(scope->value).bits : 0;
  const NamedPlace place = SiteOf(scope->name, is_step ? Use::kStep : Use::kScope);
  if (scope->keys != nullptr)
    AddArguments(recorded, scope->keys, scope->values, CountOfValues(*scope));
  Ring* ring = Recorded::RingNow();
  if (ring == nullptr || recorded.is_open()) return;
  if (is_step) {
    recorded.BeginStep(ring, place.site, number);
  } else if (place.is_in_coroutine) [[unlikely]] {
    recorded.BeginSlice(ring, place.site);
  } else {
    recorded.Begin(ring, place.site);
  }
  if (scope->lost > 0) recorded.CountLost(scope->lost);
}

PyObject* Enter(PyObject* self) {
  ScopeObject* scope = AsScope(self);
  if (scope->is_entered) [[unlikely]] {
    PyErr_Format(PyExc_RuntimeError,
                 "xlaprof: scope %R is open already. Call xlaprof.trace(...) in each `with`",
                 TextOfName(scope->name));
    return nullptr;
  }
  scope->is_entered = true;
  if (record::recording.load(std::memory_order_relaxed) != 0) Begin(scope);
  Py_INCREF(self);
  return self;
}

PyObject* Exit(PyObject* self) {
  ScopeObject* scope = AsScope(self);
  scope->is_entered = false;
  if (scope->recorded.is_open()) [[likely]] {
    if (record::ring_of_thread == nullptr) [[unlikely]]
      NameThisThread();
    scope->recorded.End();
  }
  if (scope->value != nullptr && after_step != nullptr) [[unlikely]] {
    Py_INCREF(after_step);
    const Owned observer(after_step);  // because it may take itself out
    const Owned done(PyObject_CallNoArgs(observer.get()));
    if (!done) return nullptr;
  }
  Py_RETURN_NONE;
}

// Returns a function that opens such a scope around each of its calls.
PyObject* Decorate(ScopeObject* scope, PyObject* function) {
  if (PyCallable_Check(function) == 0 || scope->value != nullptr || wrap == nullptr) {
    PyErr_SetString(PyExc_TypeError,
                    "xlaprof: a scope decorates a function: @xlaprof.trace(\"name\")");
    return nullptr;
  }
  const Owned arguments(PyDict_New());
  if (!arguments) return nullptr;
  for (Py_ssize_t i = 0; i < CountOfValues(*scope); ++i) {
    if (PyDict_SetItem(arguments.get(), PyTuple_GetItem(scope->keys, i), scope->values[i]) != 0)
      return nullptr;
  }
  return PyObject_CallFunctionObjArgs(wrap, function, scope->name, arguments.get(), nullptr);
}

// A scope is called to enter it, to leave it, and to decorate a function.
PyObject* Call(PyObject* self, PyObject* const* args, size_t flags, PyObject* names) {
  const size_t count = CountOf(flags);
  if (names == nullptr) [[likely]] {
    if (count == 0) return Enter(self);
    if (count == 3) return Exit(self);
    if (count == 1) return Decorate(AsScope(self), args[0]);
  }
  PyErr_SetString(PyExc_TypeError,
                  "xlaprof: use a scope in `with`, or as a decorator of one function");
  return nullptr;
}

// Python calls this if it does not use the vectorcall.
PyObject* CallWithTuple(PyObject* self, PyObject* args, PyObject* names) {
  PyObject* items[3] = {};
  const Py_ssize_t count = PyTuple_Size(args);
  for (Py_ssize_t i = 0; i < count && i < 3; ++i) items[i] = PyTuple_GetItem(args, i);
  const bool has_names = names != nullptr && PyDict_Size(names) > 0;
  return Call(self, items, size_t(count), has_names ? names : nullptr);
}

// Adds arguments to a scope that is open: scope.add(loss=0.5).
PyObject* Add(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (count != 0) {
    PyErr_SetString(PyExc_TypeError, "add() takes keywords only: add(key=value)");
    return nullptr;
  }
  Recorded& recorded = AsScope(self)->recorded;
  if (recorded.is_open() && names != nullptr) {
    const Py_ssize_t lost = AddArguments(recorded, names, args, PyTuple_Size(names));
    if (lost > 0 && recorded.is_open()) recorded.CountLost(lost);
  }
  Py_RETURN_NONE;
}

PyObject* NameOf(PyObject* self, void* /*closure*/) {
  PyObject* name = TextOfName(AsScope(self)->name);
  Py_INCREF(name);
  return name;
}

PyObject* Repr(PyObject* self) {
  return PyUnicode_FromFormat("<xlaprof scope %R>", TextOfName(AsScope(self)->name));
}

PyObject* Make(PyObject* name, PyObject* number, PyObject* keys, PyObject* const* values) {
  ScopeObject* scope = nullptr;
  if (unused_count > 0) [[likely]] {
    scope = unused[--unused_count];
    PyObject_Init(reinterpret_cast<PyObject*>(scope), scope_type);
  } else {
    scope = PyObject_New(ScopeObject, scope_type);
    if (scope == nullptr) return nullptr;
    new (&scope->recorded) Recorded;
    scope->callable.call = Call;
  }
  Py_INCREF(scope->name = name);
  Py_XINCREF(scope->value = number);
  scope->lost = 0, scope->is_entered = false;
  scope->keys = keys;
  if (keys != nullptr) [[unlikely]] {
    Py_INCREF(keys);
    const Py_ssize_t count = PyTuple_Size(keys);
    for (Py_ssize_t i = 0; i < count && i < record::kMaxArgs; ++i)
      Py_INCREF(scope->values[i] = values[i]);
    if (count > record::kMaxArgs) scope->lost = count - record::kMaxArgs;
  }
  return reinterpret_cast<PyObject*>(scope);
}

void Free(PyObject* self) {
  ScopeObject* scope = AsScope(self);
  if (scope->recorded.is_open()) [[unlikely]]
    scope->recorded.End();  // it was entered and never left
  Py_DECREF(scope->name);
  if (scope->value != nullptr) Py_DECREF(scope->value);
  if (scope->keys != nullptr) {
    const Py_ssize_t count = CountOfValues(*scope);
    for (Py_ssize_t i = 0; i < count; ++i) Py_DECREF(scope->values[i]);
    Py_DECREF(scope->keys);
  }
  PyTypeObject* type = Py_TYPE(self);
  if (type == scope_type && unused_count < unused.size()) {
    unused[unused_count++] = scope;
  } else {
    PyObject_Free(self);
  }
  Py_DECREF(type);
}

PyObject* Trace(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (count != 1 || !IsName(args[0])) {
    PyErr_SetString(PyExc_TypeError,
                    "trace() takes a name, which is a str: trace(\"forward\", key=value)");
    return nullptr;
  }
  return Make(args[0], nullptr, names, args + 1);
}

PyObject* Step(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  static PyObject* const usual = PyUnicode_InternFromString("step");
  PyObject* name = count == 2 ? args[1] : usual;
  if (count < 1 || count > 2 || PyLong_Check(args[0]) == 0 || !IsName(name)) {
    PyErr_SetString(
        PyExc_TypeError,
        "step() takes a number, which is an int, and perhaps a name: step(7, \"train\")");
    return nullptr;
  }
  return Make(name, args[0], names, args + count);
}

// Binds __enter__ and __exit__ to the scope itself.
PyObject* Bind(PyObject* self, PyObject* object, PyObject* /*type*/) {
  PyObject* bound = object != nullptr && object != Py_None ? object : self;
  Py_INCREF(bound);
  return bound;
}

// Calls what was found in the type: Scope.__exit__(scope, None, None, None).
PyObject* CallUnbound(PyObject* /*self*/, PyObject* args, PyObject* /*names*/) {
  const Py_ssize_t count = PyTuple_Size(args);
  PyObject* scope = count > 0 ? PyTuple_GetItem(args, 0) : nullptr;
  if (scope == nullptr || PyObject_TypeCheck(scope, scope_type) == 0 ||
      (count != 1 && count != 4)) {
    PyErr_SetString(PyExc_TypeError, "__enter__ takes a scope, and __exit__ a scope and an error");
    return nullptr;
  }
  return count == 1 ? Enter(scope) : Exit(scope);
}

PyObject* SetScopeHelpers(PyObject* /*module*/, PyObject* args) {
  PyObject *wraps = nullptr, *names = nullptr;
  if (PyArg_ParseTuple(args, "OO:set_scope_helpers", &wraps, &names) == 0) return nullptr;
  Py_INCREF(wraps);
  Py_INCREF(names);
  Py_XDECREF(std::exchange(wrap, wraps));
  Py_XDECREF(std::exchange(thread_name, names));
  Py_RETURN_NONE;
}

PyObject* SetAfterStep(PyObject* /*module*/, PyObject* observer) {
  PyObject* replaced = after_step;
  after_step = observer == Py_None ? nullptr : observer;
  Py_XINCREF(after_step);
  Py_XDECREF(replaced);
  Py_RETURN_NONE;
}

PyTypeObject* MakeBindingType() {
  static PyType_Slot slots[] = {{Py_tp_descr_get, reinterpret_cast<void*>(Bind)},
                                {Py_tp_call, reinterpret_cast<void*>(CallUnbound)},
                                {0, nullptr}};
  static PyType_Spec spec = {"xlaprof._xlaprof.Binding", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT,
                             slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

PyTypeObject* MakeScopeType() {
  static PyMemberDef members[] = {{const_cast<char*>("__vectorcalloffset__"), T_PYSSIZET,
                                   offsetof(Callable, call), READONLY, nullptr},
                                  {nullptr, 0, 0, 0, nullptr}};
  static PyMethodDef methods[] = {
      {"add", Method(Add), METH_FASTCALL | METH_KEYWORDS,
       "add($self, /, **arguments)\n--\n\nAdds arguments to the scope while it is open."},
      {nullptr, nullptr, 0, nullptr}};
  static PyGetSetDef attributes[] = {
      {const_cast<char*>("name"), NameOf, nullptr, const_cast<char*>("The scope's name."), nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("A scope, which trace() and step() return. It lasts as long as "
                                    "its `with` block, or each call of the function that it "
                                    "decorates.")},
      {Py_tp_dealloc, reinterpret_cast<void*>(Free)},
      {Py_tp_call, reinterpret_cast<void*>(CallWithTuple)},
      {Py_tp_repr, reinterpret_cast<void*>(Repr)},
      {Py_tp_members, members},
      {Py_tp_methods, methods},
      {Py_tp_getset, attributes},
      {0, nullptr}};
  static PyType_Spec spec = {"xlaprof._xlaprof.Scope", sizeof(ScopeObject), 0,
                             Py_TPFLAGS_DEFAULT | kHasVectorcall, slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

}  // namespace

void NameThisThread() {
  if (thread_name == nullptr) return;
  const Owned name(PyObject_CallNoArgs(thread_name));
  if (!name) {
    PyErr_Clear();
  } else if (PyUnicode_Check(name.get()) != 0) {
    NameThread(Utf8(name.get()));
  }
}

bool AddScope(PyObject* module) {
  if (scope_type == nullptr) scope_type = MakeScopeType();
  const Owned binding_type(reinterpret_cast<PyObject*>(MakeBindingType()));
  if (scope_type == nullptr || !binding_type) return false;
  const Owned binding(reinterpret_cast<PyObject*>(
      PyObject_New(PyObject, reinterpret_cast<PyTypeObject*>(binding_type.get()))));
  auto* type = reinterpret_cast<PyObject*>(scope_type);
  if (!binding || PyObject_SetAttrString(type, "__enter__", binding.get()) != 0 ||
      PyObject_SetAttrString(type, "__exit__", binding.get()) != 0)
    return false;
  Py_INCREF(type);
  if (PyModule_AddObject(module, "Scope", type) != 0) return false;
  static PyMethodDef functions[] = {
      {"trace", Method(Trace), METH_FASTCALL | METH_KEYWORDS,
       "Returns a scope: `with trace(\"forward\", layer=7):`, or `@trace(\"forward\")`.\n\nThe scope "
       "is recorded with its arguments, its file, its function and its line while something "
       "records. At most eight arguments are kept: numbers, and all else as text."},
      {"step", Method(Step), METH_FASTCALL | METH_KEYWORDS,
       "Returns a scope that is a step, which the report counts: `with step(7):`.\n\nA second "
       "argument names it otherwise than `step`."},
      {"set_scope_helpers", SetScopeHelpers, METH_VARARGS,
       "Takes the functions that decorate functions and name threads."},
      {"set_after_step", SetAfterStep, METH_O,
       "Takes the function that is called after each step, recorded or not. None: there is none."},
      {nullptr, nullptr, 0, nullptr}};
  return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace xlaprof::python
