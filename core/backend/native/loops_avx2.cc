// Defines the loops for CPUs with avx2.
#ifdef __x86_64__
#include "core/backend/native/loops_internal.h"

namespace xlaprof::lazy {
const Loops& LoopsForAvx2() { return kLoops; }
}  // namespace xlaprof::lazy
#endif
