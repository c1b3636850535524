// Starts and ends recordings, and records counters and moments.
#pragma once

#include "python/extension/limited_api.h"

namespace xlaprof::python {

// Adds to the module: start(path), stop(), is_recording(), counter(name, value), instant(name),
// name_process(name) and end_in_child().
bool AddRecording(PyObject* module);

}  // namespace xlaprof::python
