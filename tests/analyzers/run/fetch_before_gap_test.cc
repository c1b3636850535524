// Tests which fetches are found before the gaps of a device.
#include <gtest/gtest.h>

#include "analyzers/run/around_gaps.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {
namespace {

class FetchBeforeGap : public testing::Test {
 protected:
  // Records a fetch of 100 us that ends at that time.
  void Fetch(int64_t end_us, Direction direction = Direction::kFromDevice) {
    run_.Event(host_, TextOf(Category::kTransfer), "Client::TransferFromDevice", end_us - 100, 100);
    EXPECT_TRUE(run_.store()
                    .Add(TransferRow{.process_id = 1,
                                     .ordinal = ordinal_++,
                                     .direction = direction,
                                     .ts_ns = (end_us - 100) * 1000,
                                     .dur_ns = 100'000,
                                     .track_id = host_})
                    .ok());
  }
  // Looks for fetches before a gap from 1,000 to 2,000 us.
  FetchesBeforeGaps Find() {
    const xlaprof::Run run(run_.store());
    const std::vector<Interval> gaps = {{1'000'000, 2'000'000}};
    return *FetchesBefore(run, 1, gaps);
  }
  TimedRun run_;
  int64_t host_ = run_.HostThread(), ordinal_ = 0;
};

TEST_F(FetchBeforeGap, EndsShortlyBeforeOrInTheFirstHalf) {
  Fetch(900);
  EXPECT_EQ(Find().gaps, 1);
  EXPECT_EQ(Find().name, "TransferFromDevice");
}

// Regression: recordings of the lazy runtime do not say which thread fetched.
TEST_F(FetchBeforeGap, HasTheNameOfTheEventAroundItOnAnyThread) {
  run_.Event(host_, TextOf(Category::kTransfer), "TransferFromDevice", 790, 120);
  run_.Event(host_, TextOf(Category::kScope), "save", 795, 120);
  EXPECT_TRUE(run_.store()
                  .Add(TransferRow{.process_id = 1,
                                   .ordinal = 1,
                                   .direction = Direction::kFromDevice,
                                   .ts_ns = 800'000,
                                   .dur_ns = 100'000})
                  .ok());
  EXPECT_EQ(Find().gaps, 1);
  EXPECT_EQ(Find().name, "TransferFromDevice");
}

TEST_F(FetchBeforeGap, JustInTheFirstHalf) {
  Fetch(1500);
  EXPECT_EQ(Find().gaps, 1);
}

TEST_F(FetchBeforeGap, LongBeforeInTheSecondHalfAndUploadsDoNotCount) {
  Fetch(899);
  Fetch(1501);
  Fetch(1000, Direction::kToDevice);
  EXPECT_EQ(Find().gaps, 0);
}

}  // namespace
}  // namespace xlaprof
