// Makes tensors from numbers alone.
#include "core/backend/native/thunk.h"

namespace xlaprof::lazy {

ThunkOr MakeUniform(const Task& task) {
  return ThunkOf([&pool = task.pool, seed_slot = task.operands[0].slot, out = task.result.slot,
                  elements = task.result.shape.elements()](char* const* memory) {
    int64_t seed;
    std::memcpy(&seed, memory[seed_slot], sizeof seed);
    auto* to = reinterpret_cast<float*>(memory[out]);
    pool.For(elements, kGrain / 4, [&](int64_t begin, int64_t end) {
      ThisCpusLoops().uniform(uint64_t(seed), uint64_t(begin), to + begin, end - begin);
    });
  });
}

ThunkOr MakeArange(const Task& task) {
  return VisitDType(task.result.shape.dtype, [&](auto t) -> std::unique_ptr<Thunk> {
    using T = decltype(t);
    using Wide = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
    const Wide start = Wide(RealOf(task.attribute(0))), step = Wide(RealOf(task.attribute(1)));
    return ThunkOf([start, step, &pool = task.pool, out = task.result.slot,
                    elements = task.result.shape.elements()](char* const* memory) {
      auto* to = reinterpret_cast<T*>(memory[out]);
      pool.For(elements, kGrain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const Wide value = start + Wide(i) * step;
          if constexpr (std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>)
            to[i] = T(float(value));
          else
            to[i] = T(value);
        }
      });
    });
  });
}

}  // namespace xlaprof::lazy
