// Tests which ops a line of source calls.
#include "analyzers/run/op_in_source.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

TEST(OpInSource, ACallNamesItsOp) {
  EXPECT_TRUE(LineCallsOp("return torch.histc(h, bins=bins)", "aten::histc", false));
  EXPECT_TRUE(LineCallsOp("return h.histc(20)", "aten::histc.out", false));
  EXPECT_FALSE(LineCallsOp("return my_histc(h)", "aten::histc", false));
  EXPECT_FALSE(LineCallsOp("histc = None", "aten::histc", false));
  EXPECT_FALSE(LineCallsOp("", "aten::histc", false));
  EXPECT_FALSE(LineCallsOp("f(x)", "", false));
}

TEST(OpInSource, AFunctionMayHaveAnotherNameThanItsOp) {
  EXPECT_TRUE(LineCallsOp("torch.linalg.eigvals(c).abs()", "aten::linalg_eig", false));
  EXPECT_TRUE(LineCallsOp("torch.linalg.eigh(c)", "aten::_linalg_eigh", false));
  EXPECT_TRUE(LineCallsOp("values = x.unique()", "aten::_unique2", false));
  EXPECT_TRUE(LineCallsOp("sim.fill_diagonal_(0)", "aten::as_strided_scatter", false));
  EXPECT_FALSE(LineCallsOp("torch.linalg.eigvals(c)", "aten::histc", false));
}

TEST(OpInSource, AMaskAsIndexIsNonzero) {
  EXPECT_TRUE(LineCallsOp("picked = logits[mask]", "aten::nonzero", true));
  EXPECT_TRUE(LineCallsOp("x[x > 0] = 0", "aten::nonzero", true));
  EXPECT_FALSE(LineCallsOp("picked = logits[mask]", "aten::nonzero", false)) << "it fetches no mask";
  EXPECT_FALSE(LineCallsOp("a = x[:, 0]", "aten::nonzero", true));
  EXPECT_FALSE(LineCallsOp("a = batch['mask']", "aten::nonzero", true));
  EXPECT_FALSE(LineCallsOp("for a in [b, c]:", "aten::nonzero", true));
  EXPECT_FALSE(LineCallsOp("picked = logits[mask]", "aten::histc", true));
}

TEST(OpInSource, CommentsAndTextsCallNothing) {
  EXPECT_FALSE(LineCallsOp("x = y  # was torch.histc(y)", "aten::histc", false));
  EXPECT_FALSE(LineCallsOp("log('histc(x)')", "aten::histc", false));
  EXPECT_FALSE(LineReadsValue("x = y  // .item()"));
}

TEST(OpInSource, SomeLinesReadThemselves) {
  EXPECT_TRUE(LineReadsValue("print(loss)"));
  EXPECT_TRUE(LineReadsValue("best = sim.max(dim=1).values.cpu()"));
  EXPECT_FALSE(LineReadsValue("item = items[mask]"));
  EXPECT_FALSE(LineReadsValue("pprint(x)"));
}

}  // namespace
}  // namespace xlaprof
