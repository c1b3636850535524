// Tests how the cause of a recompilation is chosen among the checks that failed.
#include "profiler/import/torch/guard_history.h"

#include <gmock/gmock.h>

namespace xlaprof {
namespace {

using testing::ElementsAre;

// Returns the texts of the causes of the programs of function 0, from program 1 on.
std::vector<std::string> Causes(const std::vector<std::vector<const char*>>& failures) {
  GuardHistory history;
  std::vector<std::string> causes;
  for (size_t i = 0; i < failures.size(); ++i) {
    std::vector<GuardFailure> parsed;
    for (const char* text : failures[i]) parsed.push_back(ParseGuardFailure(text));
    const GuardFailure* chosen = history.Choose({0, int64_t(i) + 1}, parsed);
    causes.push_back(chosen == nullptr ? "" : chosen->text);
  }
  return causes;
}

// From a real log (t29_tc_global_state). The first failure is that of the program that ran last.
TEST(GuardHistory, ProgramsThatWereCompiledForSomethingElseTellNothing) {
  EXPECT_THAT(Causes({{"0/0: GLOBAL_STATE changed: grad_mode"},
                      {"0/1: GLOBAL_STATE changed: grad_mode",
                       "0/0: tensor 'w' dtype mismatch. expected Float, actual Double"},
                      {"0/2: tensor 'w' dtype mismatch. expected Double, actual Float",
                       "0/1: GLOBAL_STATE changed: grad_mode",
                       "0/0: tensor 'x' requires_grad mismatch. expected requires_grad=0"},
                      {"0/3: tensor 'x' requires_grad mismatch. expected requires_grad=1",
                       "0/2: tensor 'w' dtype mismatch. expected Double, actual Float",
                       "0/1: GLOBAL_STATE changed: grad_mode", "0/0: G['MODE'] == 0"}}),
              ElementsAre("0/0: GLOBAL_STATE changed: grad_mode",
                          "0/0: tensor 'w' dtype mismatch. expected Float, actual Double",
                          "0/0: tensor 'x' requires_grad mismatch. expected requires_grad=0",
                          "0/0: G['MODE'] == 0"));
}

TEST(GuardHistory, TheProgramThatRanLastTellsTheValueBefore) {
  EXPECT_THAT(Causes({{"0/0: n == 2"}, {"0/1: n == 3", "0/0: n == 2"}}),
              ElementsAre("0/0: n == 2", "0/1: n == 3"));
  EXPECT_THAT(Causes({{}}), ElementsAre(""));
}

TEST(GuardHistory, LaterFailuresTellTheValueOfAProgram) {
  GuardHistory history;
  history.Note(0, {ParseGuardFailure("0/1: n == 3"), ParseGuardFailure("0/0: n == 2")});
  EXPECT_EQ(history.ValueOf({0, 1}, ParseGuardFailure("0/0: n == 2")), "3");
  EXPECT_EQ(history.ValueOf({1, 1}, ParseGuardFailure("1/0: n == 2")), "");
}

}  // namespace
}  // namespace xlaprof
