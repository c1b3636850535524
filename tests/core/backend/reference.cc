// Defines each operation as simply as possible.
#include <cmath>
#include <limits>
#include <map>

#include "tests/core/backend/programs.h"

namespace xlaprof::lazy {
namespace {

using Index = Dims;

Index IndexOf(const Dims& dims, int64_t number) {
  Index index(dims.size());
  for (size_t i = dims.size(); i-- > 0; number /= dims[i]) index[i] = number % dims[i];
  return index;
}
size_t NumberOf(const Dims& dims, const Index& index) {
  int64_t number = 0;
  for (size_t i = 0; i < dims.size(); ++i) number = number * dims[i] + index[i];
  return size_t(number);
}
double At(const Values& values, const Index& index) {
  return values.elements[NumberOf(values.shape.dims, index)];
}

double Remainder(double a, double b, DType dtype) {
  if (b == 0 && !IsFloat(dtype)) return a;
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
// Returns the nearest number that a short type of integers can hold.
double InRange(double value, DType dtype) {
  return VisitDType(dtype, [&]<class T>(T) -> double {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 2) {
      if (std::isnan(value)) return 0;
      return std::clamp(value, double(std::numeric_limits<T>::lowest()),
                        double(std::numeric_limits<T>::max()));
    } else {
      return value;
    }
  });
}

double Larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double Smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }

using Unary = double (*)(double);
const std::map<const Op*, Unary> kUnary = {
    {&op::neg, [](double x) { return -x; }},
    {&op::abs, [](double x) { return std::abs(x); }},
    {&op::exp, [](double x) { return std::exp(x); }},
    {&op::log, [](double x) { return std::log(x); }},
    {&op::log1p, [](double x) { return std::log1p(x); }},
    {&op::tanh, [](double x) { return std::tanh(x); }},
    {&op::sqrt, [](double x) { return std::sqrt(x); }},
    {&op::rsqrt, [](double x) { return 1 / std::sqrt(x); }},
    {&op::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {&op::relu, [](double x) { return x < 0 ? 0 : x; }},
    {&op::sin, [](double x) { return std::sin(x); }},
    {&op::cos, [](double x) { return std::cos(x); }},
    {&op::floor, [](double x) { return std::floor(x); }},
    {&op::round, [](double x) { return std::nearbyint(x); }},
    {&op::erf, [](double x) { return std::erf(x); }},
    {&op::logical_not, [](double x) { return double(x == 0); }},
    {&op::cast, [](double x) { return x; }},
};
using Binary = double (*)(double, double);
const std::map<const Op*, Binary> kBinary = {
    {&op::add, [](double a, double b) { return a + b; }},
    {&op::sub, [](double a, double b) { return a - b; }},
    {&op::mul, [](double a, double b) { return a * b; }},
    {&op::div, [](double a, double b) { return a / b; }},
    {&op::pow, [](double a, double b) { return std::pow(a, b); }},
    {&op::maximum, Larger},
    {&op::minimum, Smaller},
    {&op::eq, [](double a, double b) { return double(a == b); }},
    {&op::ne, [](double a, double b) { return double(a != b); }},
    {&op::lt, [](double a, double b) { return double(a < b); }},
    {&op::le, [](double a, double b) { return double(a <= b); }},
    {&op::gt, [](double a, double b) { return double(a > b); }},
    {&op::ge, [](double a, double b) { return double(a >= b); }},
    {&op::logical_and, [](double a, double b) { return double(a != 0 && b != 0); }},
    {&op::logical_or, [](double a, double b) { return double(a != 0 || b != 0); }},
};

class Evaluation {
 public:
  Evaluation(const Instruction& it, std::vector<const Values*> in, Values* out)
      : it_(it), a_(it.attributes), in_(std::move(in)), out_(*out) {}

  void Run() {
    if (Elementwise() || Moved() || Reduced() || Summed() || Indexed() || Multiplied() ||
        Windowed() || Normed())
      return;
    if (it_.op == &op::constant) Set(0, IsFloat(it_.shape.dtype) ? RealOf(a_[0]) : double(a_[0]));
    if (it_.op == &op::arange)
      for (int64_t i = 0; i < a_[2]; ++i) Set(size_t(i), RealOf(a_[0]) + double(i) * RealOf(a_[1]));
    if (it_.op == &op::uniform)
      for (int64_t i = 0; i < it_.shape.elements(); ++i) Set(size_t(i), Drawn(i));
  }

 private:
  void Set(size_t at, double value) { out_.elements[at] = Rounded(value, it_.shape.dtype); }
  // Sets each element of the result to f(index of the element).
  template <class F>
  bool Each(F f) {
    for (int64_t i = 0; i < it_.shape.elements(); ++i)
      Set(size_t(i), f(IndexOf(it_.shape.dims, i)));
    return true;
  }

  bool Elementwise() {
    if (!it_.op->elementwise) return false;
    for (size_t i = 0; i < out_.elements.size(); ++i) {
      double x = in_[0]->elements[i];
      if (it_.op == &op::cast && IsFloat(in_[0]->shape.dtype)) x = InRange(x, it_.shape.dtype);
      if (it_.op == &op::where)
        Set(i, x != 0 ? in_[1]->elements[i] : in_[2]->elements[i]);
      else if (it_.op == &op::remainder)
        Set(i, Remainder(x, in_[1]->elements[i], it_.shape.dtype));
      else if (auto unary = kUnary.find(it_.op); unary != kUnary.end())
        Set(i, unary->second(x));
      else
        Set(i, kBinary.at(it_.op)(x, in_[1]->elements[i]));
    }
    return true;
  }

  bool Moved() {
    const Op* op = it_.op;
    if (op == &op::view) {
      out_.elements = in_[0]->elements;
      return true;
    }
    if (op == &op::expand)
      return Each([&](Index i) {
        const Dims& from = in_[0]->shape.dims;
        i.erase(i.begin(), i.end() - int64_t(from.size()));
        for (size_t k = 0; k < i.size(); ++k)
          if (from[k] == 1) i[k] = 0;
        return At(*in_[0], i);
      });
    if (op == &op::permute)
      return Each([&](const Index& i) {
        Index from(i.size());
        for (size_t k = 0; k < i.size(); ++k) from[size_t(a_[k])] = i[k];
        return At(*in_[0], from);
      });
    if (op == &op::slice)
      return Each([&](Index i) {
        i[size_t(a_[0])] = a_[1] + i[size_t(a_[0])] * a_[3];
        return At(*in_[0], i);
      });
    if (op == &op::slice_scatter)
      return Each([&](Index i) {
        int64_t& k = i[size_t(a_[0])];
        if (k < a_[1] || k >= a_[2] || (k - a_[1]) % a_[3] != 0) return At(*in_[0], i);
        k = (k - a_[1]) / a_[3];
        return At(*in_[1], i);
      });
    if (op == &op::cat)
      return Each([&](Index i) {
        int64_t& k = i[size_t(a_[0])];
        size_t from = 0;
        for (; k >= in_[from]->shape.dims[size_t(a_[0])]; ++from)
          k -= in_[from]->shape.dims[size_t(a_[0])];
        return At(*in_[from], i);
      });
    if (op == &op::pad)
      return Each([&](Index i) {
        for (size_t k = 0; k < i.size(); ++k) {
          i[k] -= a_[1 + 2 * k];
          if (i[k] < 0 || i[k] >= in_[0]->shape.dims[k]) return RealOf(a_[0]);
        }
        return At(*in_[0], i);
      });
    if (op == &op::flip)
      return Each([&](Index i) {
        for (int64_t dim : a_) i[size_t(dim)] = it_.shape.dims[size_t(dim)] - 1 - i[size_t(dim)];
        return At(*in_[0], i);
      });
    return false;
  }

  bool Reduced() {
    const Op* op = it_.op;
    const bool sum = op == &op::sum, prod = op == &op::prod;
    const bool max = op == &op::amax || op == &op::argmax;
    if (!sum && !prod && !max && op != &op::amin) return false;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::vector<double> values(out_.elements.size(), sum    ? 0
                                                     : prod ? 1
                                                     : max  ? -kInfinity
                                                            : kInfinity);
    std::vector<double> places(values.size());
    const Dims& from = in_[0]->shape.dims;
    Dims kept = from;
    for (size_t k = 1; k < a_.size(); ++k) kept[size_t(a_[k])] = 1;
    for (int64_t n = 0; n < in_[0]->shape.elements(); ++n) {
      Index i = IndexOf(from, n);
      const double value = in_[0]->elements[size_t(n)];
      const int64_t place = i.empty() || a_.size() < 2 ? 0 : i[size_t(a_[1])];
      for (size_t k = 0; k < i.size(); ++k)
        if (kept[k] == 1) i[k] = 0;
      const size_t at = NumberOf(kept, i);
      double& now = values[at];
      if (max && !std::isnan(now) && (value > now || std::isnan(value))) places[at] = double(place);
      now = sum ? now + value : prod ? now * value : max ? Larger(value, now) : Smaller(value, now);
      if (std::isnan(value)) now = value;
    }
    for (size_t i = 0; i < values.size(); ++i) Set(i, op == &op::argmax ? places[i] : values[i]);
    return true;
  }

  bool Summed() {
    if (it_.op != &op::cumsum) return false;
    const size_t dim = size_t(a_[0]);
    std::vector<double> sums(out_.elements.size());
    return Each([&](Index i) {
      const size_t at = NumberOf(it_.shape.dims, i);
      sums[at] = At(*in_[0], i);
      if (i[dim]-- > 0) sums[at] += sums[NumberOf(it_.shape.dims, i)];
      return sums[at];
    });
  }

  int64_t Inside(double index, int64_t size) {
    return std::clamp<int64_t>(int64_t(index), 0, size - 1);
  }

  bool Indexed() {
    const Op* op = it_.op;
    const bool adds = op == &op::scatter_add || op == &op::index_add;
    const bool changes = adds || op == &op::scatter || op == &op::index_copy;
    const bool by_row = op == &op::index_select || op == &op::index_add || op == &op::index_copy;
    if (!by_row && !changes && op != &op::gather) return false;
    const size_t dim = size_t(a_[0]);
    const int64_t size = in_[0]->shape.dims[dim];
    auto place = [&](const Index& i) {
      Index to = i;
      to[dim] = Inside(by_row ? in_[1]->elements[size_t(i[dim])] : At(*in_[1], i), size);
      return to;
    };
    if (!changes) return Each([&](const Index& i) { return At(*in_[0], place(i)); });
    out_.elements = in_[0]->elements;
    const Dims& walked = by_row ? in_[2]->shape.dims : in_[1]->shape.dims;
    for (int64_t n = 0; n < (by_row ? in_[2] : in_[1])->shape.elements(); ++n) {
      const Index i = IndexOf(walked, n);
      const size_t at = NumberOf(it_.shape.dims, place(i));
      Set(at, (adds ? out_.elements[at] : 0) + At(*in_[2], i));
    }
    return true;
  }

  bool Multiplied() {
    if (it_.op != &op::mm && it_.op != &op::bmm) return false;
    return Each([&](const Index& i) {
      Index a = i, b = i;
      const size_t row = i.size() - 2, column = i.size() - 1;
      double sum = 0;
      for (int64_t k = 0; k < in_[0]->shape.dims[column]; ++k) {
        a[column] = b[row] = k;
        sum += At(*in_[0], a) * At(*in_[1], b);
      }
      return sum;
    });
  }

  // Computes convolutions, poolings and their gradients: over all windows and their elements.
  bool Windowed();
  bool Normed();
  double Drawn(int64_t i);

  const Instruction& it_;
  const Attributes& a_;
  const std::vector<const Values*> in_;
  Values& out_;
};

bool Evaluation::Windowed() {
  const Op* op = it_.op;
  const bool forward = op == &op::convolution, to_input = op == &op::convolution_backward_input;
  if (forward || to_input || op == &op::convolution_backward_weight) {
    const Values& x = to_input ? out_ : *in_[0];
    const Values& w = forward ? *in_[1] : to_input ? *in_[0] : out_;
    const Values& y = forward ? out_ : *in_[1];
    std::vector<double> sums(out_.elements.size());
    for (int64_t n = 0; n < y.shape.elements(); ++n) {
      const Index i = IndexOf(y.shape.dims, n);
      const int64_t filter = w.shape.elements() / w.shape.dims[0];
      for (int64_t m = i[1] * filter; m < (i[1] + 1) * filter; ++m) {
        const Index k = IndexOf(w.shape.dims, m);
        const int64_t row = i[2] * a_[0] - a_[2] + k[2] * a_[4];
        const int64_t column = i[3] * a_[1] - a_[3] + k[3] * a_[5];
        const int64_t group = i[1] / (w.shape.dims[0] / a_[6]);
        if (row < 0 || column < 0 || row >= x.shape.dims[2] || column >= x.shape.dims[3]) continue;
        const int64_t channel = group * w.shape.dims[1] + k[1];
        const size_t at = NumberOf(x.shape.dims, {i[0], channel, row, column});
        const size_t y_at = size_t(n), w_at = size_t(m);
        if (forward)
          sums[y_at] += x.elements[at] * w.elements[w_at];
        else if (to_input)
          sums[at] += y.elements[y_at] * w.elements[w_at];
        else
          sums[w_at] += y.elements[y_at] * x.elements[at];
      }
    }
    for (size_t i = 0; i < sums.size(); ++i) Set(i, sums[i]);
    return true;
  }
  const bool max = op == &op::max_pool2d || op == &op::max_pool2d_backward;
  if (!max && op != &op::avg_pool2d && op != &op::avg_pool2d_backward) return false;
  const bool backward = in_.size() == 2;
  const Values& x = backward ? *in_[1] : *in_[0];
  const Shape& pooled = backward ? in_[0]->shape : it_.shape;
  std::vector<double> sums(out_.elements.size());
  for (int64_t n = 0; n < pooled.elements(); ++n) {
    const Index i = IndexOf(pooled.dims, n);
    double sum = 0;
    int64_t best = -1;
    std::vector<size_t> covered;
    for (int64_t k = 0; k < a_[0] * a_[1]; ++k) {
      const int64_t row = i[2] * a_[2] - a_[4] + k / a_[1];
      const int64_t column = i[3] * a_[3] - a_[5] + k % a_[1];
      if (row < 0 || column < 0 || row >= x.shape.dims[2] || column >= x.shape.dims[3]) continue;
      const size_t at = NumberOf(x.shape.dims, {i[0], i[1], row, column});
      covered.push_back(at);
      sum += x.elements[at];
      if (best < 0 || x.elements[at] > x.elements[size_t(best)]) best = int64_t(at);
    }
    const double share = 1.0 / double(a_[0] * a_[1]);
    if (!backward) {
      sums[size_t(n)] = max ? x.elements[size_t(best)] : sum * share;
    } else if (max) {
      sums[size_t(best)] += in_[0]->elements[size_t(n)];
    } else {
      for (size_t at : covered) sums[at] += in_[0]->elements[size_t(n)] * share;
    }
  }
  for (size_t i = 0; i < sums.size(); ++i) Set(i, sums[i]);
  return true;
}

bool Evaluation::Normed() {
  const bool train = it_.op == &op::native_batch_norm;
  const bool backward = it_.op == &op::native_batch_norm_backward;
  if (!train && !backward && it_.op != &op::batch_norm_inference) return false;
  const Values& x = *in_[backward ? 1 : 0];
  auto mean_of = [&](auto f) {
    std::vector<double> means(size_t(x.shape.dims[1]));
    for (size_t i = 0; i < x.elements.size(); ++i)
      means[size_t(IndexOf(x.shape.dims, int64_t(i))[1])] += f(i);
    const double count = double(x.elements.size() / means.size());
    for (double& mean : means) mean /= count;
    return means;
  };
  auto channel = [&](size_t i) { return size_t(IndexOf(x.shape.dims, int64_t(i))[1]); };
  std::vector<double> mean, variance;
  if (train) {
    mean = mean_of([&](size_t i) { return x.elements[i]; });
    variance = mean_of([&](size_t i) {
      const double off = x.elements[i] - mean[channel(i)];
      return off * off;
    });
  } else {
    mean = in_[3]->elements, variance = in_[4]->elements;
  }
  auto scale = [&](size_t c) { return 1 / std::sqrt(variance[c] + RealOf(a_[0])); };
  auto normal = [&](size_t i) { return (x.elements[i] - mean[channel(i)]) * scale(channel(i)); };
  const std::vector<double>& weight = in_[backward ? 2 : 1]->elements;
  if (!backward) {
    const std::vector<double>& bias = in_[2]->elements;
    for (size_t i = 0; i < out_.elements.size(); ++i) {
      Set(i, train && a_[1] == 1   ? mean[i]
             : train && a_[1] == 2 ? variance[i]
                                   : normal(i) * weight[channel(i)] + bias[channel(i)]);
    }
    return true;
  }
  const std::vector<double>& gradient = in_[0]->elements;
  const auto along = mean_of([&](size_t i) { return gradient[i] * normal(i); });
  const auto all = mean_of([&](size_t i) { return gradient[i]; });
  const double count = double(x.elements.size() / along.size());
  for (size_t i = 0; i < out_.elements.size(); ++i) {
    const size_t c = a_[1] == 0 ? channel(i) : i;
    Set(i, a_[1] == 1   ? along[c] * count
           : a_[1] == 2 ? all[c] * count
                        : weight[c] * scale(c) * (gradient[i] - all[c] - normal(i) * along[c]));
  }
  return true;
}

double Evaluation::Drawn(int64_t i) {
  const auto seed = uint64_t(int64_t(in_[0]->elements[0]));
  uint32_t keys[3] = {uint32_t(seed >> 32), uint32_t(seed), 0};
  keys[2] = keys[0] ^ keys[1] ^ 0x1bd11bda;
  uint32_t a = uint32_t(uint64_t(i) >> 32) + keys[0], b = uint32_t(i) + keys[1];
  constexpr uint32_t kRotations[] = {13, 15, 26, 6, 17, 29, 16, 24};
  for (uint32_t round = 0; round < 20; ++round) {
    a += b;
    b = std::rotl(b, int(kRotations[round % 8])) ^ a;
    if (round % 4 != 3) continue;
    const uint32_t group = round / 4 + 1;
    a += keys[group % 3];
    b += keys[(group + 1) % 3] + group;
  }
  return double(a >> 8) * 0x1p-24;
}

}  // namespace

std::vector<Values> Reference(const Program& program, const std::vector<Values>& arguments) {
  std::vector<Values> values(program.instructions.size());
  for (size_t p = 0; p < arguments.size(); ++p)
    values[size_t(program.parameters[p])] = arguments[p];
  for (size_t i = 0; i < values.size(); ++i) {
    const Instruction& it = program.instructions[i];
    if (it.op == &op::device_data) continue;
    values[i] = {it.shape, std::vector<double>(size_t(it.shape.elements()))};
    std::vector<const Values*> in;
    for (int32_t operand : it.operands) in.push_back(&values[size_t(operand)]);
    Evaluation(it, in, &values[i]).Run();
  }
  std::vector<Values> results;
  for (int32_t result : program.results) results.push_back(values[size_t(result)]);
  return results;
}

}  // namespace xlaprof::lazy
