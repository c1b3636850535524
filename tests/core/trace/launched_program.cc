// launched_program MODE runs four processes that train the same weight on different data. In some
// modes, rank 2 does something else after 3 steps. Prints what each rank ends with, or the error of
// launch(). Mode lambda runs a lambda in two processes instead.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "core/trace/collective.h"
#include "core/trace/functions.h"
#include "core/trace/launch.h"
#include "core/trace/step.h"

namespace xlaprof::lazy {
namespace {

int set_by_main = 0;
// So many that all processes read them at the same time.
constexpr size_t kArguments = 100'000;

void Train(int64_t rank, int64_t steps, const std::string& mode, const std::vector<double>& data,
           const HostTensor& start) {
  if (data.size() != kArguments || data.back() != 5) Raise("the arguments did not arrive");
  Tensor weight = Tensor::FromHost(start);
  for (int64_t step = 0; step < steps; ++step) {
    int64_t rows = 4;
    if (rank == 2 && step == 3) {
      if (mode == "raise") Raise("the data is gone");
      if (mode == "die") std::raise(SIGKILL);
      if (mode == "exit") std::exit(0);
      if (mode == "fewer") return;
      if (mode == "uneven") rows = 3;
      if (mode == "hang") sleep(1000);
    }
    const auto value = static_cast<float>(data[size_t(rank)]);
    const std::vector<float> values(static_cast<size_t>(rows), value);
    const Tensor x = Tensor::FromHost(std::span<const float>(values), {rows});
    const Tensor mean_of_all = all_reduce(ReduceOp::kSum, x, 0.25);
    weight.add_(mean(mean_of_all));
    sync();
  }
  fmt::print("rank {} of {}: {} {} {}\n", rank, world_size(), weight.item(), set_by_main,
             std::getenv("LOCAL_RANK") != nullptr ? std::getenv("LOCAL_RANK") : "none");
}

void Nothing(int64_t) {}

// The first thing that everybody writes.
void SumOfNumbers(int64_t rank) {
  const Tensor sum = all_reduce(ReduceOp::kSum, full({3}, double(rank + 1)));
  mark_step();
  fmt::print("sum {}\n", sum[0].item());
}

}  // namespace
}  // namespace xlaprof::lazy

int main(int argc, char** argv) {
  using namespace xlaprof::lazy;
  const std::string mode = argc > 1 ? argv[1] : "";
  if (getppid() != 1 && std::getenv("XLAPROF_LAUNCH") == nullptr) set_by_main = 7;
  try {
    HostTensor start{{DType::kF32, {}}, std::vector<std::byte>(4)};
    std::vector<double> data(kArguments, 5);
    for (int rank = 0; rank < 4; ++rank) data[size_t(rank)] = rank + 1;
    launch(Nothing, {.processes = 2}, {});
    if (mode == "lambda") {
      // What is captured has the value of the copy's own main().
      const int captured = set_by_main;
      launch([captured](int64_t rank,
                        double value) { fmt::print("rank {}: {} {}\n", rank, value, captured); },
             {.processes = 2}, std::tuple(0.5));
      return 0;
    }
    if (mode == "numbers") return launch(SumOfNumbers, {.processes = 4}), 0;
    launch(Train, {.processes = 4, .debug_single_process = mode == "single"},
           std::tuple(6, mode, data, start));
    fmt::print("done\n");
  } catch (const Error& error) {
    fmt::print("{}\n", error.what());
    return 3;
  }
}
