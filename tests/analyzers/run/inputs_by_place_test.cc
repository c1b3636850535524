// Tests which inputs are made of what the host fetched.
#include "analyzers/run/inputs_by_place.h"

#include <gtest/gtest.h>

#include "profiler/store/store.h"

namespace xlaprof {
namespace {

// Graphs with inputs at lines of one function.
class Inputs {
 public:
  void Add(int64_t graph, const std::string& shape, int64_t line) {
    const absl::Status status = store_->Exec(
        fmt::format("INSERT INTO graph_node (graph_id, idx, op, shape, operands, location) VALUES "
                    "({}, {}, 'xla::device_data', '{}', '', 'forward@/home/u/model.py:{}')",
                    graph, next_++, shape, line));
    ASSERT_TRUE(status.ok()) << status;
  }
  // Returns the shape of the input that is made of what graph 1 returns, fetched at line 18; "" if
  // there is none.
  std::string MadeOf(InputsByPlace::Fetched fetched) {
    fetched.place = {.file = "/home/u/model.py", .line = 18, .function = "forward"};
    fetched.graphs = {{1}};
    const auto inputs = InputsByPlace::Of(Run(*store_));
    EXPECT_TRUE(inputs.ok()) << inputs.status();
    const std::optional<InputsOfLine> made = inputs->MadeOf(fetched);
    return made ? made->shape.text() : "";
  }

 private:
  absl::StatusOr<Store> store_ = Store::CreateTemporary();
  int64_t next_ = 0;
};

TEST(InputsByPlace, AResultComesBackAtTheLineOfTheOp) {
  Inputs inputs;
  inputs.Add(2, "s64[512,8]{1,0}", 18);
  inputs.Add(2, "f32[]", 18);
  EXPECT_EQ(inputs.MadeOf({}), "s64[512,8]");
}

TEST(InputsByPlace, DataThatTheFetchedGraphReadsDoesNotComeBack) {
  Inputs inputs;  // (logits.argmax(-1) == labels).cpu()
  inputs.Add(1, "s64[64]{0}", 18);
  inputs.Add(2, "s64[64]{0}", 18);
  EXPECT_EQ(inputs.MadeOf({}), "");
}

TEST(InputsByPlace, WeightsThatTheNextLineUsesDoNotComeBack) {
  Inputs inputs;
  inputs.Add(2, "f32[32,64]{1,0}", 19);
  EXPECT_EQ(inputs.MadeOf({}), "");
  EXPECT_EQ(inputs.MadeOf({.is_exact = false}), "");
}

TEST(InputsByPlace, OnlySizesThatChangeComeBackAfterTheLineOfTheValue) {
  Inputs inputs;
  inputs.Add(2, "s64[103]{0}", 19);
  inputs.Add(3, "s64[97]{0}", 19);
  EXPECT_EQ(inputs.MadeOf({.is_exact = false}), "s64[103]");
  EXPECT_EQ(inputs.MadeOf({.is_exact = false, .has_one_shape = false}), "") << "the data changes";
  EXPECT_EQ(inputs.MadeOf({.is_exact = true}), "") << "the fetch itself is at another line";
}

}  // namespace
}  // namespace xlaprof
