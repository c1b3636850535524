#include "base/array_bytes.h"

#include <optional>
#include <string_view>

#include "base/numbers.h"

namespace xlaprof {

int64_t ArrayBytes(const XlaShape& shape) {
  if (shape.is_tuple()) return 0;
  const std::string_view type = shape.element_type();
  double bits = type == "pred" ? 8 : double(FindCount(type).value_or(0));  // f32, bf16, s4, f8e5m2
  for (int64_t size : shape.dimensions()) bits *= double(size);
  constexpr double kMostBits = 1e18;  // a damaged file may claim any size
  return bits > 0 && bits < kMostBits ? int64_t(bits / 8) : 0;
}

int64_t ArrayBytes(const std::string& shape) {
  const std::optional<XlaShape> parsed = XlaShape::Parse(shape);
  return parsed ? ArrayBytes(*parsed) : 0;
}

}  // namespace xlaprof
