// Tests what is read from the texts of graph breaks.
#include "profiler/import/torch/graph_break.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace xlaprof {
namespace {

TEST(GraphBreak, HasItsPlaceReasonAndAdvice) {
  const auto found = ParseGraphBreak(
      "Graph break in user code at /home/u/train.py:15\n"
      "Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, "
      "e.g. f(x, y):\n"
      "\n"
      "Unsupported Tensor.item() call with capture_scalar_outputs=False\n"
      "  Explanation: Dynamo does not support tracing `Tensor.item()`.\n"
      "  Hint: Set `torch._dynamo.config.capture_scalar_outputs = True`.\n"
      "  Hint: Please report an issue to PyTorch.\n"
      "\n"
      "  Developer debug context: call_method TensorVariable() item () {}\n"
      "\n"
      " For more details about this graph break, please visit: "
      "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0124.html\n"
      "\n"
      "User code traceback:\n"
      "  File \"/home/u/train.py\", line 28, in <module>\n"
      "    loss = block(x)\n"
      "  File \"/home/u/train.py\", line 15, in forward\n"
      "    scale = h.abs().max().item()\n"
      "\n"
      "Traceback (most recent call last):\n"
      "  File \"/x/site-packages/torch/_dynamo/symbolic_convert.py\", line 659, in wrapper\n");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->place, (SourcePlace{"/home/u/train.py", 15, "forward"}));
  EXPECT_EQ(found->reason, "Unsupported Tensor.item() call with capture_scalar_outputs=False");
  EXPECT_EQ(found->hint, "Set `torch._dynamo.config.capture_scalar_outputs = True`.");
  EXPECT_EQ(found->code, "gb0124");
  ASSERT_EQ(found->frames.size(), 2u);  // without Dynamo's own
  EXPECT_EQ(found->frames[1].line, 28);
}

TEST(GraphBreak, OfOlderVersions) {
  // PyTorch 2.6.
  auto found = ParseGraphBreak(
      "Graph break in user code at /home/u/train.py:12\nReason: Unsupported: Tensor.backward\n"
      "User code traceback:\n  File \"/home/u/train.py\", line 12, in train_step\n    "
      "loss.backward()\n");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->reason, "Tensor.backward");
  EXPECT_EQ(found->place.function, "train_step");
  EXPECT_EQ(found->code, "");
  // One that was printed before.
  found = ParseGraphBreak(
      "Graph break (details suppressed) in user code at /home/u/train.py:12\nReason: Unsupported: "
      "Tensor.backward\n");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->place, (SourcePlace{"/home/u/train.py", 12, ""}));
  EXPECT_TRUE(found->frames.empty());
}

// The spellings of PyTorch 2.6 to 2.15.
TEST(GraphBreak, ItsReasonHasAType) {
  const struct {
    const char* reason;
    ReasonType type;
  } kReasons[] = {
      {"Unsupported Tensor.item() call with capture_scalar_outputs=False",
       ReasonType::kValueAccess},
      {"Unsupported: Tensor.tolist", ReasonType::kValueAccess},
      {"data dependent operator: aten._local_scalar_dense.default", ReasonType::kValueAccess},
      {"Data-dependent branching", ReasonType::kDataDependentBranch},
      {"generic_jump TensorVariable()", ReasonType::kDataDependentBranch},
      {"Failed to trace builtin operator", ReasonType::kUntraceable},
  };
  for (const auto& [reason, type] : kReasons) {
    const auto found = ParseGraphBreak(
        fmt::format("Graph break in user code at a.py:1\nGraph Break Reason: {}\n  Hint: Call "
                    ".item() elsewhere.\n",
                    reason));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->type, type) << reason;
  }
}

TEST(GraphBreak, AFailureHasTypeReasonAndAdvice) {
  CompileFailureRow row;
  SetFailure(
      "Unsupported",
      "Data-dependent branching\n  Explanation: Detected .item().\n  Hint: Use `torch.cond`.", row);
  EXPECT_EQ(row.type, ReasonType::kDataDependentBranch);
  EXPECT_EQ(row.reason, "Data-dependent branching");
  EXPECT_EQ(row.hint, "Use `torch.cond`.");
  SetFailure("BackendCompilerFailed", "backend='b' raised:\nRuntimeError: no kernel\n\nSet X", row);
  EXPECT_EQ(row.type, ReasonType::kBackendError);
  EXPECT_EQ(row.reason, "backend='b' raised: RuntimeError: no kernel");
  EXPECT_EQ(row.hint, std::nullopt);
  SetFailure("InductorError", "InvalidCxxCompiler: none", row);
  EXPECT_EQ(row.type, ReasonType::kNoCompiler);
  SetFailure("", "", row);
  EXPECT_EQ(row.type, ReasonType::kUnknown);
  EXPECT_EQ(row.error, std::nullopt);
  EXPECT_EQ(row.reason, std::nullopt);
  EXPECT_EQ(row.text, std::nullopt);
}

TEST(GraphBreak, OtherTextsAreNone) {
  EXPECT_FALSE(ParseGraphBreak(""));
  EXPECT_FALSE(ParseGraphBreak("Graph break"));
  EXPECT_FALSE(ParseGraphBreak("Graph break in user code at train.py"));
  EXPECT_FALSE(ParseGraphBreak("A graph break in user code at train.py:1"));
}

}  // namespace
}  // namespace xlaprof
