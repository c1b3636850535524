// Tests uploads from pageable memory, for which the host waits.
#include "analyzers/kinds.h"
#include "analyzers/large_transfer.h"
#include "analyzers/run/uploads.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {
namespace {

// Adds a step of 1 ms with an upload whose call takes `call_us` and whose copy takes 20 us, and a
// kernel.
void Step(TimedRun& run, int64_t host, int64_t stream, uint64_t number, std::string_view copy,
          int64_t call_us) {
  const int64_t begin_us = 1000 * int64_t(number);
  run.Step(host, begin_us, 1000, fmt::format("ProfilerStep#{}", number));
  run.Flow(host, TextOf(Category::kTransfer), "cudaMemcpyAsync", begin_us + 10, call_us, 0,
           number + 1);
  run.Flow(stream, TextOf(Category::kOp), copy, begin_us + 10 + call_us, 20, number + 1, 0);
  run.Event(stream, TextOf(Category::kOp), "gemm", begin_us + 500, 300);
}

Findings Find(std::string_view copy, int64_t call_us) {
  TimedRun run;
  const int64_t host = run.HostThread(), stream = run.Stream();
  for (uint64_t i = 0; i < 10; ++i) Step(run, host, stream, i, copy, call_us);
  return run.Run(large_transfer);
}

constexpr std::string_view kPageable = "Memcpy HtoD (Pageable -> Device)";

TEST(PageableUploads, BlockTheHost) {
  const Findings findings = Find(kPageable, 200);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_EQ(findings[0].count, 10);
  EXPECT_EQ(findings[0].cost_ns, 2'000'000);
  EXPECT_EQ(findings[0].reason->type, ReasonType::kToDevice);
}

TEST(PageableUploads, CostNothingIfTheCallReturnsSoon) { EXPECT_TRUE(Find(kPageable, 10).empty()); }

TEST(PageableUploads, PinnedMemoryIsFine) {
  EXPECT_TRUE(Find("Memcpy HtoD (Pinned -> Device)", 200).empty());
}

}  // namespace
}  // namespace xlaprof
