// Tests which lines of libraries a report names beside the user's line.
#include "analyzers/run/call_stacks.h"

#include <gtest/gtest.h>

#include "profiler/store/store.h"

namespace xlaprof {
namespace {

constexpr const char* kSite = "/opt/venv/lib/python3.11/site-packages/";

CallFrame Library(const std::string& file, int64_t line) {
  return {.place = {kSite + file, line, "helper"}};
}
CallFrame User(int64_t line) {
  return {.place = {"/home/user/chat.py", line, "reply"}, .is_user = true};
}

TEST(LibraryFrame, IsTheInnermostOneThatDoesTheWork) {
  const std::vector<CallFrame> frames = {Library("torch/utils/_contextlib.py", 120),
                                         Library("transformers/utils.py", 5),
                                         Library("transformers/generate.py", 9), User(34)};
  const CallFrame* frame = LibraryFrameOf(frames);
  ASSERT_NE(frame, nullptr);
  EXPECT_EQ(frame->place.line, 5);
}

TEST(LibraryFrame, IsNoneIfTheUsersLineDidTheWork) {
  EXPECT_EQ(LibraryFrameOf({User(34), Library("runner/run.py", 1)}), nullptr);
  EXPECT_EQ(LibraryFrameOf({Library("torch_xla/torch_xla.py", 87), User(34)}), nullptr)
      << "torch_xla only cuts the graph";
}

class CallStacksTest : public testing::Test {
 protected:
  // Adds `times` executions with this stack.
  void Execute(const std::vector<CallFrame>& frames, int times) {
    std::vector<Store::Frame> of_store;
    for (const CallFrame& frame : frames)
      of_store.push_back({frame.place.function, frame.place.file, frame.place.line.value_or(0),
                          frame.is_user ? CodeOwner::kUser : CodeOwner::kLibrary});
    const int64_t stack = store_.AddStack(of_store).value();
    for (int i = 0; i < times; ++i) {
      const int64_t id = store_.Add(ExecutionRow{.ordinal = ordinal_++, .stack_id = stack}).value();
      cited_.push_back(id);
    }
  }
  CallStack StackOfLine34(const std::string& function = "") {
    Finding finding{.subject = {.file = "/home/user/chat.py", .line = 34}};
    if (!function.empty()) finding.subject.function = function;
    finding.evidence = {{.table = "execution", .rows = cited_}};
    const xlaprof::Run run(store_);
    return (*run.Get<CallStacks>())->Of(finding);
  }
  Store store_ = Store::CreateTemporary().value();
  std::vector<int64_t> cited_;
  int64_t ordinal_ = 0;
};

TEST_F(CallStacksTest, MostOfTheCitedRowsDecide) {
  Execute({Library("transformers/utils.py", 5), User(34)}, 3);
  Execute({Library("transformers/masks.py", 7), User(34)}, 1);
  const CallStack stack = StackOfLine34();
  ASSERT_EQ(stack.frames.size(), 2u);
  EXPECT_EQ(stack.frames.front().place.line, 5);
  EXPECT_FALSE(stack.is_only);
}

// torch.compile knows where a function is defined, and a check that failed is at a line in it.
TEST_F(CallStacksTest, ALineInTheInnermostFunctionIsOfTheStack) {
  const CallFrame defined = User(30),
                  caller = {.place = {"/home/user/main.py", 7}, .is_user = true};
  Execute({defined, caller}, 1);
  EXPECT_TRUE(StackOfLine34().frames.empty()) << "the line's function is not known";
  const CallStack stack = StackOfLine34("reply");
  ASSERT_EQ(stack.frames.size(), 2U);
  EXPECT_EQ(stack.frames[0].place.line, 34);
  EXPECT_EQ(stack.frames[1].place.line, 7);
  EXPECT_TRUE(StackOfLine34("other").frames.empty());
}

TEST_F(CallStacksTest, WithoutAMajorityNoStackIsNamed) {
  Execute({Library("transformers/utils.py", 5), User(34)}, 2);
  Execute({Library("transformers/masks.py", 7), User(34)}, 2);
  EXPECT_TRUE(StackOfLine34().frames.empty());
}

TEST_F(CallStacksTest, AStackOfAnotherLineIsNotTheFindings) {
  Execute({User(36)}, 3);
  EXPECT_TRUE(StackOfLine34().frames.empty());
}

}  // namespace
}  // namespace xlaprof
