#include "core/ir/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace xlaprof::lazy {

std::string Shape::ToText() const {
  return fmt::format("{}[{}]", XlaName(dtype), fmt::join(dims, ","));
}

std::string Shape::ToXlaText() const {
  if (dims.empty()) return ToText();
  std::string layout;
  for (int64_t i = rank() - 1; i >= 0; --i) {
    layout += std::to_string(i);
    if (i > 0) layout += ',';
  }
  return fmt::format("{}{{{}}}", ToText(), layout);
}

std::string Shape::ToStableHlo() const {
  std::string text = "tensor<";
  for (int64_t dim : dims) text += std::to_string(dim) + 'x';
  text += StableHloName(dtype);
  return text + '>';
}

bool MayBeHeld(const Dims& dims) {
  constexpr int64_t kMost = int64_t{1} << 58;
  int64_t elements = 1;
  for (int64_t size : dims) {
    if (size > 0 && elements > kMost / size) return false;
    elements *= size;
  }
  return true;
}

Dims RowMajorStrides(const Dims& dims) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i]) strides[i] = stride;
  return strides;
}

std::string SizesText(const Dims& dims) { return fmt::format("[{}]", fmt::join(dims, ", ")); }

}  // namespace xlaprof::lazy
