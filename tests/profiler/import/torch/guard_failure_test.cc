// Tests that PyTorch's texts about failed guards are understood. The texts are those of torch 2.6 to
// 2.15.
#include "profiler/import/torch/guard_failure.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

struct Expected {
  const char* text;
  ReasonType type;
  const char *input, *before, *after;
};

TEST(GuardFailure, EachTextHasItsTypeAndValues) {
  constexpr Expected kTexts[] = {
      {"0/0: tensor 'x' size mismatch at index 0. expected 64, actual 48", ReasonType::kShapeChange,
       "x", "64", "48"},
      {"tensor 'L['x']' size mismatch at index 0. expected 64, actual 48", ReasonType::kShapeChange,
       "x", "64", "48"},
      {"0/0: tensor 'kwargs['input_ids']' size mismatch at index 1. expected 8, actual 9",
       ReasonType::kShapeChange, "kwargs['input_ids']", "8", "9"},
      {"tensor 't' rank mismatch. expected 2, actual 1", ReasonType::kShapeChange, "t", "rank 2", "rank 1"},
      {"tensor 'x' stride mismatch at index 0. expected 32, actual 1", ReasonType::kLayoutChange,
       "x", "32", "1"},
      {"tensor 'w' dtype mismatch. expected Float, actual Double", ReasonType::kDtypeChange, "w",
       "Float", "Double"},
      {"tensor 'x' requires_grad mismatch. expected requires_grad=0", ReasonType::kGradientChange,
       "x", "requires_grad=0", "requires_grad=1"},
      {"GLOBAL_STATE changed: grad_mode ", ReasonType::kEnvironmentChange, "grad_mode", "", ""},
      {"GLOBAL_STATE changed: autocast(cpu)_enabled ", ReasonType::kEnvironmentChange, "autocast",
       "", ""},
      {"start == 2                      # for i in range(start):  # prog/tc_baked_int.py:7 in "
       "unroll",
       ReasonType::kConstantChange, "start", "2", ""},
      {"start == 3  # for i in range(start):  # prog/tc_baked_int.py:7 in unroll "
       "(_dynamo/variables/tensor.py:3083 in evaluate_expr)",
       ReasonType::kConstantChange, "start", "3", ""},
      {"self.calls == 0     # self.calls += 1  # tt/prog/a.py:14 in forward (HINT: make this integer "
       "dynamic)",
       ReasonType::kConstantChange, "self.calls", "0", ""},
      {"L['self'].calls == 0  # self.calls += 1  # prog/a.py:14 in forward",
       ReasonType::kConstantChange, "self.calls", "0", ""},
      {"G['MODE'] == 0      # if MODE > 0:  # prog/a.py:11 in layer", ReasonType::kConstantChange,
       "G['MODE']", "0", ""},
      {"___as_tensor(___stack0).item() == 2.08  # (unknown source ___as_tensor(___stack0).item(), "
       "please file a bug)",
       ReasonType::kConstantChange, "___stack0", "2.08", ""},
      {"name == 'relu'   # return torch.relu(x) if name == \"relu\" else x  # prog/a.py:19 in "
       "activate",
       ReasonType::kConstantChange, "name", "'relu'", ""},
      {"len(history) == 1   # for h in history:  # prog/a.py:3 in f",
       ReasonType::kInputStructureChange, "len(history)", "1", ""},
      {"m is None  # if m is None:  # prog/a.py:3 in f", ReasonType::kConstantChange, "m", "None",
       ""},
      {"a is b  # return a + b  # prog/a.py:3 in f", ReasonType::kParameterSharingChange, "a is b",
       "", ""},
      {"2 <= x.size()[0] <= 4096  # h = torch.relu(x @ w)  # prog/a.py:8 in score (user code shown "
       "is first use of this value) and (_inductor/codegen/cpp.py:2397 in need_use_acc_helper)",
       ReasonType::kShapeChange, "x", "2 <= x.size()[0] <= 4096", ""},
      {"___check_obj_id(G['HOOK'].__code__, 1407)  # return HOOK(t)  # prog/a.py:3 in f",
       ReasonType::kRedefinedFunction, "G['HOOK'].__code__", "", ""},
      {"expected type of 't' to be a tensor type, ' but found <class "
       "'torch.nn.parameter.Parameter'>",
       ReasonType::kInputStructureChange, "t", "", "<class 'torch.nn.parameter.Parameter'>"},
      {"words of a later version", ReasonType::kUnknown, "", "", ""},
      {"", ReasonType::kUnknown, "", "", ""},
      {"0/", ReasonType::kUnknown, "", "", ""},
      {"tensor '", ReasonType::kUnknown, "", "", ""},
  };
  for (const Expected& expected : kTexts) {
    const GuardFailure failure = ParseGuardFailure(expected.text);
    EXPECT_EQ(failure.type, expected.type) << expected.text;
    EXPECT_EQ(failure.input, expected.input) << expected.text;
    EXPECT_EQ(failure.before, expected.before) << expected.text;
    EXPECT_EQ(failure.after, expected.after) << expected.text;
  }
}

TEST(GuardFailure, TheProgramAndTheDimensionAreKnown) {
  const GuardFailure failure =
      ParseGuardFailure("2/13: tensor 'x' size mismatch at index 1. expected 8, actual 9");
  EXPECT_EQ(failure.program, 13);
  EXPECT_EQ(failure.dimension, 1);
  EXPECT_EQ(failure.text, "2/13: tensor 'x' size mismatch at index 1. expected 8, actual 9");
  EXPECT_FALSE(ParseGuardFailure("GLOBAL_STATE changed: grad_mode ").program);
}

TEST(GuardFailure, TheUsersLineIsFound) {
  const auto place = [](const char* text) {
    return ParseGuardFailure(text).place.TextWithFunction();
  };
  EXPECT_EQ(place("0/0: n == 2   # for i in range(n):  # prog/a.py:7 in unroll"),
            "unroll@prog/a.py:7");
  // torch 2.15 prints the whole path below the text.
  EXPECT_EQ(place("0/0: n == 2   # for i in range(n):  # prog/a.py:7 in unroll\nUser stack trace:\n"
                  "  File \"/home/u/prog/a.py\", line 7, in unroll\n    for i in range(n):"),
            "unroll@/home/u/prog/a.py:7");
  // PyTorch's own line is none of the user's.
  EXPECT_EQ(place("0/0: mod.training == True  # return F.dropout(input)  # "
                  "nn/modules/dropout.py:73 in forward"),
            "");
}

TEST(GuardFailure, APathThatLostItsFirstCharacterIsCompletedByItsNeighbours) {
  EXPECT_EQ(WholePathBeside("mp/run/layers.py", "/tmp/run/train.py"), "/tmp/run/layers.py");
  EXPECT_EQ(WholePathBeside("mp/run/nn/mlp.py", "/tmp/run/train.py"), "/tmp/run/nn/mlp.py");
  EXPECT_EQ(WholePathBeside("run/layers.py", "/tmp/run/train.py"), "");
  EXPECT_EQ(WholePathBeside("mp/runs/layers.py", "/tmp/run/train.py"), "");
  EXPECT_EQ(WholePathBeside("/tmp/run/layers.py", "/tmp/run/train.py"), "");
  EXPECT_EQ(WholePathBeside("layers.py", "/a/train.py"), "");
  EXPECT_EQ(WholePathBeside("layers.py", "train.py"), "");
}

}  // namespace
}  // namespace xlaprof
