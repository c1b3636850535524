#include <algorithm>
#include <cmath>

#include "core/trace/emit.h"

namespace xlaprof::lazy {
namespace {

// Larger tensors are printed with only the first and last elements of each dimension.
constexpr int64_t kMaxPrinted = 1000, kEdge = 3;

template <class To, class From>
To Convert(From value) {
  constexpr bool narrow_to = std::is_same_v<To, BFloat16>, narrow = std::is_same_v<From, BFloat16>;
  if constexpr (narrow && narrow_to) {
    return value;
  } else if constexpr (narrow) {
    return Convert<To>(float(value));
  } else if constexpr (narrow_to) {
    return BFloat16(float(value));
  } else {
    return To(value);
  }
}

template <class To>
To At(const HostTensor& tensor, int64_t i) {
  return VisitDType(tensor.shape.dtype, [&]<class T>(T) {
    return Convert<To>(reinterpret_cast<const T*>(tensor.bytes.data())[i]);
  });
}

std::string ElementText(const HostTensor& tensor, int64_t i) {
  if (tensor.shape.dtype == DType::kBool) return tensor.Whole(i) != 0 ? "True" : "False";
  if (!IsFloat(tensor.shape.dtype)) return fmt::format("{}", tensor.Whole(i));
  const double value = tensor.Real(i);
  if (std::isnan(value)) return "nan";  // the sign of a NaN has no meaning
  return value == std::floor(value) && std::abs(value) < 1e6 ? fmt::format("{:.0f}.", value)
                                                             : fmt::format("{:.4g}", value);
}

void Print(const HostTensor& tensor, size_t dim, int64_t offset, int64_t stride, bool cut,
           std::string* out) {
  const Dims& sizes = tensor.shape.dims;
  if (dim == sizes.size()) {
    *out += ElementText(tensor, offset);
    return;
  }
  const int64_t count = sizes[dim];
  stride = count == 0 ? 0 : stride / count;
  *out += '[';
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) *out += dim + 1 == sizes.size() ? ", " : ",\n" + std::string(8 + dim, ' ');
    if (cut && count > 2 * kEdge && i == kEdge) {
      *out += "...";
      i = count - kEdge - 1;
      continue;
    }
    Print(tensor, dim + 1, offset + i * stride, stride, cut, out);
  }
  *out += ']';
}

}  // namespace

double HostTensor::Real(int64_t i) const { return At<double>(*this, i); }
int64_t HostTensor::Whole(int64_t i) const { return At<int64_t>(*this, i); }

std::string HostTensor::ToText() const {
  std::string text = "tensor(";
  const int64_t elements = shape.elements();
  Print(*this, 0, 0, elements, elements > kMaxPrinted, &text);
  if (shape.dtype != DType::kF32 && shape.dtype != DType::kI64 && shape.dtype != DType::kBool)
    text += fmt::format(", dtype=torch.{}", TorchName(shape.dtype));
  return text + ")";
}

HostTensor Converted(const void* values, const Shape& shape, DType type) {
  HostTensor to{{type, shape.dims}, {}};
  to.bytes.resize(size_t(to.shape.bytes()));
  VisitDType(shape.dtype, [&]<class From>(From) {
    VisitDType(type, [&]<class To>(To) {
      const auto* from = static_cast<const From*>(values);
      std::transform(from, from + shape.elements(), reinterpret_cast<To*>(to.bytes.data()),
                     [](From value) { return Convert<To>(value); });
    });
  });
  return to;
}

}  // namespace xlaprof::lazy
