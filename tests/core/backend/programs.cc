#include "tests/core/backend/programs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace xlaprof::lazy {

double Rounded(double value, DType dtype) {
  return VisitDType(dtype, [&](auto t) -> double {
    using T = decltype(t);
    if constexpr (std::is_same_v<T, bool>) {
      return value != 0;
    } else if constexpr (std::is_integral_v<T> && sizeof(T) <= 2) {
      return double(T(int64_t(value)));  // wraps around
    } else if constexpr (sizeof(T) == 2) {
      return double(float(T(float(value))));
    } else if constexpr (std::is_integral_v<T>) {
      if (std::isnan(value)) return 0;
      constexpr double kLimit = sizeof(T) == 4 ? 2147483648.0 : 9223372036854775808.0;
      if (value >= kLimit) return double(std::numeric_limits<T>::max());
      return value < -kLimit ? -kLimit : double(T(value));
    } else {
      return double(T(value));
    }
  });
}

Values Of(DType dtype, Dims dims, std::vector<double> elements) {
  return {Shape{dtype, std::move(dims)}, std::move(elements)};
}

Values Random(Shape shape, int seed, double low, double high) {
  std::mt19937 generator(static_cast<unsigned>(seed));
  std::uniform_real_distribution<double> draw(low, high);
  Values values{shape, {}};
  for (int64_t i = 0; i < shape.elements(); ++i) {
    const double value = draw(generator);
    const bool as_it_is = IsFloat(shape.dtype);
    values.elements.push_back(shape.dtype == DType::kBool ? value > (low + high) / 2
                              : as_it_is                  ? Rounded(value, shape.dtype)
                                         : Rounded(std::round(value * 4), shape.dtype));
  }
  return values;
}

std::vector<char> ToBytes(const Values& values) {
  std::vector<char> bytes;
  VisitDType(values.shape.dtype, [&](auto t) {
    using T = decltype(t);
    for (double value : values.elements) {
      T element;
      if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>)
        element = T(float(value));
      else
        element = T(value);
      auto* from = reinterpret_cast<const char*>(&element);
      bytes.insert(bytes.end(), from, from + sizeof element);
    }
  });
  return bytes;
}

Values FromBytes(const Shape& shape, const std::vector<char>& bytes) {
  Values values{shape, {}};
  VisitDType(shape.dtype, [&](auto t) {
    using T = decltype(t);
    for (size_t at = 0; at < bytes.size(); at += sizeof(T)) {
      T element;
      std::memcpy(&element, &bytes[at], sizeof element);
      if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>)
        values.elements.push_back(double(float(element)));
      else
        values.elements.push_back(double(element));
    }
  });
  return values;
}

std::vector<Ref<Buffer>> ToDevice(Backend& backend, const std::vector<Values>& arguments) {
  std::vector<Ref<Buffer>> buffers;
  for (const Values& argument : arguments) {
    auto buffer = backend.ToDevice(ToBytes(argument).data(), argument.shape);
    EXPECT_TRUE(buffer.ok()) << buffer.status();
    buffers.push_back(*buffer);
  }
  return buffers;
}

Values ToHost(Backend& backend, const Ref<Buffer>& buffer) {
  std::vector<char> bytes(size_t(buffer->shape().bytes()));
  EXPECT_TRUE(backend.ToHost(*buffer, bytes.data()).ok());
  return FromBytes(buffer->shape(), bytes);
}

std::vector<Values> RunOn(Backend& backend, const Program& program,
                          const std::vector<Values>& arguments, KernelListener* listener) {
  auto executable = backend.Compile(program);
  EXPECT_TRUE(executable.ok()) << executable.status();
  if (!executable.ok()) return {};
  std::vector<Values> values;
  // Runs twice, because nothing may be left over from the first run.
  for (int time = 0; time < 2; ++time) {
    auto results = (*executable)->Run(ToDevice(backend, arguments), {.listener = listener});
    EXPECT_TRUE(results.ok()) << results.status();
    if (!results.ok()) return {};
    values.clear();
    for (const Ref<Buffer>& result : *results) values.push_back(ToHost(backend, result));
  }
  return values;
}

void ExpectAsReference(Backend& backend, const Program& program,
                       const std::vector<Values>& arguments, double tolerance) {
  const std::vector<Values> results = RunOn(backend, program, arguments);
  const std::vector<Values> expected = Reference(program, arguments);
  ASSERT_EQ(results.size(), expected.size());
  for (size_t r = 0; r < results.size(); ++r) {
    const DType dtype = expected[r].shape.dtype;
    ASSERT_EQ(results[r].shape, expected[r].shape);
    const double allowed = tolerance != 0         ? tolerance
                           : !IsFloat(dtype)      ? 0
                           : dtype == DType::kF64 ? 1e-12
                           : dtype == DType::kF32 ? 2e-6
                           : dtype == DType::kF16 ? 2e-3
                                                  : 1.6e-2;
    for (size_t i = 0; i < expected[r].elements.size(); ++i) {
      const double want = expected[r].elements[i], is = results[r].elements[i];
      const bool same = want == is || (std::isnan(want) && std::isnan(is)) ||
                        std::abs(want - is) <= allowed * std::max(1.0, std::abs(want));
      ASSERT_TRUE(same) << program.instructions.back().op->name << ", result " << r << " "
                        << expected[r].shape.ToText() << ", element " << i << ": " << is << ", not "
                        << want;
    }
  }
}

}  // namespace xlaprof::lazy
