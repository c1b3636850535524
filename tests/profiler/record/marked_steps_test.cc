#include "profiler/record/marked_steps.h"

#include <gmock/gmock.h>

#include "profiler/store/rows.h"

namespace xlaprof::record {
namespace {

class MarkedSteps : public testing::Test {
 protected:
  // Adds a step: of a scope if it has a name, otherwise of a mark.
  void Step(const std::string& name, int64_t begin_ns, int64_t end_ns) {
    StepRow row{.process_id = 1, .ts_ns = begin_ns, .dur_ns = end_ns - begin_ns};
    if (!name.empty()) row.name = name;
    last_ = store_.Add(row).value();
  }
  // Adds an execution that the host asked for; it belongs to the step that was added last.
  void Execution(int64_t enqueue_ns) {
    ExecutionRow row{.process_id = 1, .ordinal = enqueue_ns, .enqueue_ts_ns = enqueue_ns};
    row.step_id = last_;
    ASSERT_TRUE(store_.Add(row).ok());
  }
  std::string United() {
    EXPECT_TRUE(UniteSteps(store_, 1).ok());
    std::string out;
    EXPECT_TRUE(
        store_
            .Each("SELECT coalesce(name, 'mark') || ' ' || ts_ns || '+' || dur_ns || ' ' || "
                  "(SELECT count(*) FROM execution WHERE step_id = s.id) FROM step s ORDER "
                  "BY ordinal",
                  [&](std::string row) { out += row + "; "; })
            .ok());
    return out;
  }
  Store store_ = *Store::CreateTemporary();
  int64_t last_ = 0;
};

// The first mark ends no step, because the runtime does not know when it began.
TEST_F(MarkedSteps, AScopeAroundEachMarkIsTheStep) {
  for (int64_t at : {0, 100, 200}) Step("train", at, at + 90);
  Step("", 80, 180), Execution(70), Execution(170);
  Step("", 180, 280), Execution(270);
  EXPECT_EQ(United(), "train 0+90 1; train 100+90 1; train 200+90 1; ");
}

TEST_F(MarkedSteps, AScopeAroundALoopIsNoStep) {
  Step("epoch", 0, 400);
  for (int64_t at : {100, 200, 300}) Step("", at, at + 100), Execution(at + 90);
  EXPECT_EQ(United(), "mark 0+100 0; mark 100+100 1; mark 200+100 1; mark 300+100 1; ");
}

TEST_F(MarkedSteps, AScopeWithTwoMarksEachTimeIsTheStep) {
  for (int64_t at : {0, 100, 200, 300}) Step("train", at, at + 90);
  for (int64_t at : {30, 80, 130, 180, 230, 280, 330}) Step("", at, at + 50), Execution(at + 45);
  EXPECT_EQ(United(), "train 0+90 1; train 100+90 2; train 200+90 2; train 300+90 2; ");
}

TEST_F(MarkedSteps, MarksOutsideOfScopesStay) {
  Step("", 0, 100), Execution(90);
  Step("train", 100, 200);
  Step("", 100, 190), Execution(180);
  Step("", 190, 290), Execution(280);
  EXPECT_EQ(United(), "mark 0+100 1; train 100+100 1; mark 190+100 1; ");
}

}  // namespace
}  // namespace xlaprof::record
