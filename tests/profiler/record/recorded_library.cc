// A library with a recorder of its own, as a plugin that was linked apart has.
#include "profiler/record/record.h"

extern "C" void Work() { XLAPROF_TRACE("in the library"); }
