// Tests XLA_GET_TENSORS_OPBYOP and XLA_SYNC_TENSORS_OPBYOP. They are read once per process, so each
// case runs in its own process.
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/metrics/metrics.h"
#include "core/trace/functions.h"
#include "core/trace/step.h"

namespace xlaprof::lazy {
namespace {

int64_t Count(std::string_view name) { return counter_value(name).value_or(0); }

// An operation on a value and itself is a different program from one on two values.
void Compute() {
  const Tensor x = Tensor::FromHost<float>(std::vector<float>{1, 2, 3, 4}, {2, 2});
  const Tensor read = sum(exp((x + x) + x));
  const double value = read.item();
  const Tensor left = (x * x) * x;
  sync(/*wait=*/true);
  fmt::print(stderr, "read {:.0f}, {} programs for {} executions; ", value,
             Count("UncachedCompile"), Count("ExecuteComputation"));
  const auto values = left.to_cpu();
  fmt::print(stderr, "synced {}; {} missed", values.Real(3), Count("OpByOpCompileCacheMiss"));
  std::exit(0);
}

void ComputeWith(const char* get, const char* sync) {
  if (get != nullptr) ::setenv(get, "1", 1);
  if (sync != nullptr) ::setenv(sync, "1", 1);
  Compute();
}

class OpByOpDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// The read computes add, add, exp and sum; the step computes those again, and mul and mul.
TEST_F(OpByOpDeathTest, AsOneProgramEach) {
  EXPECT_EXIT(ComputeWith(nullptr, nullptr), ::testing::ExitedWithCode(0),
              "read 171281, 2 programs for 2 executions; synced 64; 0 missed");
}
TEST_F(OpByOpDeathTest, Reads) {
  EXPECT_EXIT(ComputeWith("XLA_GET_TENSORS_OPBYOP", nullptr), ::testing::ExitedWithCode(0),
              "read 171281, 5 programs for 5 executions; synced 64; 4 missed");
}
TEST_F(OpByOpDeathTest, Syncs) {
  EXPECT_EXIT(ComputeWith(nullptr, "XLA_SYNC_TENSORS_OPBYOP"), ::testing::ExitedWithCode(0),
              "read 171281, 7 programs for 7 executions; synced 64; 6 missed");
}
TEST_F(OpByOpDeathTest, BothWithoutPrefix) {
  EXPECT_EXIT(ComputeWith("GET_TENSORS_OPBYOP", "SYNC_TENSORS_OPBYOP"),
              ::testing::ExitedWithCode(0),
              "read 171281, 6 programs for 10 executions; synced 64; 6 missed");
}

}  // namespace
}  // namespace xlaprof::lazy
