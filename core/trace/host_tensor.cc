#include <algorithm>
#include <limits>

#include "core/trace/emit.h"

namespace xlaprof::lazy {
namespace {

template <class To, class From>
To Convert(From value) {
  constexpr bool narrow_to = std::is_same_v<To, BFloat16>, narrow = std::is_same_v<From, BFloat16>;
  if constexpr (narrow && narrow_to) {
    return value;
  } else if constexpr (narrow) {
    return Convert<To>(float(value));
  } else if constexpr (narrow_to) {
    return BFloat16(float(value));
  } else if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>) {
    // As on devices, a value out of range becomes the nearest one in range, and NaN becomes 0.
    const double real(value);
    if (std::is_same_v<To, bool>) return To(real != 0);
    using Limits = std::numeric_limits<To>;
    if (real != real) return 0;
    if (real >= double(Limits::max())) return Limits::max();
    return real <= double(Limits::lowest()) ? Limits::lowest() : To(real);
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

}  // namespace

double HostTensor::Real(int64_t i) const { return At<double>(*this, i); }
int64_t HostTensor::Whole(int64_t i) const { return At<int64_t>(*this, i); }

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
