// Reads stores with SQL.
#pragma once

#include "python/extension/limited_api.h"

namespace xlaprof::python {

// Adds to the module: the type Store(path), whose sql(text) returns (Columns, damage), and the type
// Columns.
bool AddQuery(PyObject* module);

}  // namespace xlaprof::python
