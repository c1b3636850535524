#include "tests/core/backend/programs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <stdexcept>

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

Program ProgramOfSeed(int seed, const Shape& square) {
  const Op* unary[] = {&op::neg, &op::tanh, &op::sigmoid, &op::relu, &op::abs, &op::sin};
  const Op* binary[] = {&op::add, &op::sub, &op::mul, &op::maximum, &op::minimum};
  unsigned state = unsigned(seed) * 2654435761u + 1;
  auto draw = [&](size_t below) {
    state = state * 1664525 + 1013904223;
    return size_t(state >> 8) % below;
  };
  const int64_t size = square.dims[0];
  ProgramBuilder b;
  std::vector<int32_t> values = {b.Parameter(square), b.Parameter(square)};
  for (int i = 0; i < 40; ++i) {
    const int32_t x = values[draw(values.size())], y = values[draw(values.size())];
    switch (draw(9)) {
      case 0:
        values.push_back(b.Do(op::permute, {x}, {1, 0}));
        break;
      case 1: {
        const int32_t most = b.Do(op::amax, {x}, {1, int64_t(draw(2))});
        values.push_back(b.Do(op::expand, {most}, {size, size}));
        break;
      }
      case 2: {
        const int32_t flat = b.Do(op::exp, {b.Do(op::neg, {b.Do(op::view, {x}, {size * size})})});
        values.push_back(b.Do(op::tanh, {b.Do(op::view, {flat}, {size, size})}));
        break;
      }
      case 3: {
        const int32_t row = b.Do(op::slice, {x}, {int64_t(draw(2)), 3, 4, 1});
        values.push_back(b.Do(op::expand, {row}, {size, size}));
        break;
      }
      case 4:
        values.push_back(b.Do(op::where, {b.Do(op::lt, {x, y}), x, y}));
        break;
      case 5:
        values.push_back(b.Do(*unary[draw(6)], {x}));
        break;
      default:
        values.push_back(b.Do(op::tanh, {b.Do(*binary[draw(5)], {x, y})}));
    }
    if (draw(8) == 0) b.Result(values.back());
  }
  b.Result(values.back());
  if (b.program.instructions[size_t(values.back())].shape == square)
    b.program.donations = {{0, int32_t(b.program.results.size()) - 1}};
  return b.program;
}

double ToleranceOfChains(DType dtype) {
  return dtype == DType::kBF16 ? 0.1 : dtype == DType::kF32 ? 1e-4 : 1e-11;
}

Backend* Pjrt(int device) {
  static std::map<int, std::unique_ptr<Backend>>& made =
      *new std::map<int, std::unique_ptr<Backend>>;
  const char* plugin = std::getenv("XLAPROF_PJRT_PLUGIN");
  if (plugin == nullptr || *plugin == 0) return nullptr;
  std::unique_ptr<Backend>& backend = made[device];
  if (backend == nullptr) {
    auto of_plugin = MakePjrtBackend(plugin, device);
    if (!of_plugin.ok()) throw std::runtime_error(std::string(Message(of_plugin.status())));
    backend = *std::move(of_plugin);
  }
  return backend.get();
}

}  // namespace xlaprof::lazy
