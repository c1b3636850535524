// The context managers trace(...) and step(...).
#pragma once

#include "python/extension/limited_api.h"

namespace xlaprof::python {

// Adds to the module: the type Scope, the functions trace and step, and set_scope_helpers(wrap,
// thread_name). wrap(function, make, name, arguments) returns a decorated function, and
// thread_name() the name of the calling thread, or None.
bool AddScope(PyObject* module);

// Gives the calling thread's track the name that Python has for the thread. Call it before the
// thread's first event.
void NameThisThread();

}  // namespace xlaprof::python
