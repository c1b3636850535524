// Running sums along a dimension.
#include "core/backend/native/thunk.h"

namespace xlaprof::lazy {

// The elements of all rows at one place along the dimension are summed together, because they lie
// side by side in memory. Floats are summed in a wider type, as PyTorch does.
ThunkOr MakeCumSum(const Task& task) {
  const Shape& shape = task.shape(0);
  const Around around(shape, size_t(task.attribute(0)));
  const int64_t outer = around.outer, size = around.size, inner = around.inner;
  return VisitDType(shape.dtype, [&](auto t) -> std::unique_ptr<Thunk> {
    using T = decltype(t);
    constexpr bool kIsShort = std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>;
    constexpr bool kIsFloat = kIsShort || std::is_floating_point_v<T>;
    using Wide =
        std::conditional_t<kIsShort, float, std::conditional_t<kIsFloat, double, uint64_t>>;
    return ThunkOf([=, &pool = task.pool, in = task.operands[0].slot,
                    out = task.result.slot](char* const* memory) {
      auto* from = reinterpret_cast<const T*>(memory[in]);
      auto* to = reinterpret_cast<T*>(memory[out]);
      pool.For(outer * inner, GrainOfRows(size), [&](int64_t begin, int64_t end) {
        constexpr int64_t kBlock = 256;
        while (begin < end) {
          const int64_t column = begin % inner;
          const int64_t width = std::min({inner - column, end - begin, kBlock});
          const int64_t first = begin / inner * size * inner + column;
          Wide sums[kBlock] = {};
          for (int64_t i = 0; i < size; ++i) {
            const int64_t at = first + i * inner;
            for (int64_t j = 0; j < width; ++j) {
              if constexpr (kIsShort) {
                sums[j] += float(from[at + j]);
                to[at + j] = T(sums[j]);
              } else {
                sums[j] += Wide(from[at + j]);
                to[at + j] = T(sums[j]);
              }
            }
          }
          begin += width;
        }
      });
    });
  });
}

}  // namespace xlaprof::lazy
