// A library with its own copy of the recorder, like a plugin that was linked separately.
#include "profiler/record/record.h"

extern "C" void Work() { XLAPROF_TRACE("in the library"); }
