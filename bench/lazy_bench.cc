// lazy_bench measures the costs of the lazy runtime and prints them as JSON. Its peers torch_xla
// and JAX do the same work. Values are medians; times are in microseconds. With XLAPROF_RECORD,
// every second step of the last part is recorded.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "core/nn/nn.h"
#include "core/nn/optim.h"
#include "profiler/record/record.h"

namespace xlaprof::lazy {
namespace {

using Clock = std::chrono::steady_clock;

double Since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + int64_t(values.size() / 2), values.end());
  return values[values.size() / 2];
}

template <class F>
double MedianOf(int times, F&& f) {
  std::vector<double> values;
  for (int i = 0; i < times; ++i) {
    const auto begin = Clock::now();
    f();
    values.push_back(Since(begin));
  }
  return Median(std::move(values));
}

struct Mlp : nn::Module {
  nn::Linear fc1{784, 256}, fc2{256, 128}, fc3{128, 10};
  std::vector<nn::Part> parts() override { return {{"fc1", fc1}, {"fc2", fc2}, {"fc3", fc3}}; }
  Tensor operator()(const Tensor& x) const { return fc3(relu(fc2(relu(fc1(x))))); }
};

int Main() {
  const Tensor x = ones({16, 16}), y = ones({16, 16});
  sync(true);
  constexpr int kOps = 1000;
  auto chain = [&] {
    Tensor z = x;
    for (int i = 0; i < kOps / 2; ++i) z = z * y + x;
    return z;
  };
  std::vector<double> record, cached;
  for (int i = 0; i < 30; ++i) {
    auto begin = Clock::now();
    const Tensor z = chain();
    record.push_back(Since(begin) / kOps);
    begin = Clock::now();
    sync(true);
    cached.push_back(Since(begin));
  }
  Tensor state = x.clone();
  const double smallest = MedianOf(500, [&] {
    state = state * y + x;
    sync(true);
  });
  const double item = MedianOf(500, [&] { sum(x * y).item(); });

  Mlp net;
  optim::SGD optimizer(net.parameters(), 0.1);
  const Tensor images = rand({64, 784}), labels = remainder(arange(64), 10);
  sync(true);
  auto step = [&] {
    optimizer.zero_grad();
    const Tensor loss = nll_loss(log_softmax(net(images), 1), labels);
    loss.backward();
    optimizer.step();
    optimizer.zero_grad();
    return loss;
  };
  observe::Observer* const recorder = observe::Current();
  std::vector<double> traced, steps, recorded{0};
  for (int i = 0; i < 400; ++i) {
    const bool is_recorded = recorder != nullptr && i % 2 == 1;
    observe::observer = is_recorded ? recorder : nullptr;
    const auto begin = Clock::now();
    const Tensor loss = step();
    traced.push_back(Since(begin));
    sync(true);
    (is_recorded ? recorded : steps).push_back(Since(begin));
  }
  observe::observer = recorder;
  std::printf(
      "{\"record_us_an_op\": %.3f, \"cached_sync_of_1000_ops_us\": %.1f, "
      "\"smallest_step_us\": %.1f, \"item_us\": %.1f, \"mlp_trace_us\": %.1f, "
      "\"mlp_step_us\": %.1f, \"recorded_mlp_step_us\": %.1f, \"first_mlp_step_us\": %.0f, "
      "\"one\": 1}\n",
      Median(record), Median(cached), smallest, item, Median(traced), Median(steps),
      Median(recorded), steps.front());
  return 0;
}

}  // namespace
}  // namespace xlaprof::lazy

int main() { return xlaprof::lazy::Main(); }
