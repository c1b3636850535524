// Defines the loops for x86-64-v4 (AVX-512). CMakeLists.txt sets the compiler's flags for this file.
#ifdef __x86_64__
#include "core/backend/native/loops_internal.h"

namespace xlaprof::lazy {
const Loops& LoopsForAvx512() { return kLoops; }
}  // namespace xlaprof::lazy
#endif
