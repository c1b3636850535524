// The extension module xlaprof._xlaprof. It contains the recorder, and reads stores with SQL.
#include "python/extension/limited_api.h"
#include "python/extension/names.h"
#include "python/extension/query.h"
#include "python/extension/recording.h"
#include "python/extension/scope.h"

namespace xlaprof::python {
namespace {

int Execute(PyObject* module) {
  // Types, caches and the recording belong to the process, so only one interpreter can have them. It
  // may load the module again.
  static const int64_t owner = PyInterpreterState_GetID(PyInterpreterState_Get());
  if (owner != PyInterpreterState_GetID(PyInterpreterState_Get())) {
    PyErr_SetString(PyExc_ImportError, "xlaprof can be used in one interpreter of a process only");
    return -1;
  }
  return AddNames(module) && AddScope(module) && AddRecording(module) && AddQuery(module) ? 0 : -1;
}

}  // namespace
}  // namespace xlaprof::python

PyMODINIT_FUNC PyInit__xlaprof() {
  static PyModuleDef_Slot slots[] = {
      {Py_mod_exec, reinterpret_cast<void*>(xlaprof::python::Execute)}, {0, nullptr}};
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                   "_xlaprof",
                                   "The recorder and SQL. Package xlaprof is its interface.",
                                   0,
                                   nullptr,
                                   slots,
                                   nullptr,
                                   nullptr,
                                   nullptr};
  return PyModuleDef_Init(&definition);
}
