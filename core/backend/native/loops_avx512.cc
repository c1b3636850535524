// Defines the loops for CPUs with avx512.
#ifdef __x86_64__
#include "core/backend/native/loops_internal.h"

namespace xlaprof::lazy {
const Loops& LoopsForAvx512() { return kLoops; }
}  // namespace xlaprof::lazy
#endif
