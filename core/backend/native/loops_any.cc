// Defines the loops for any CPU, and chooses among all.
#include "core/backend/native/loops_internal.h"

namespace xlaprof::lazy {

const Loops& LoopsForAnyCpu() { return kLoops; }

const Loops& ThisCpusLoops() {
#ifdef __x86_64__
  static const Loops& loops = [&]() -> const Loops& {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("bmi2"))
      return LoopsForAnyCpu();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512cd")
               ? LoopsForAvx512()
               : LoopsForAvx2();
  }();
  return loops;
#else
  return kLoops;
#endif
}

}  // namespace xlaprof::lazy
