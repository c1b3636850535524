#include "profiler/vocabulary/ops.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

TEST(Collective, NamesOfXlaJaxAndLibraries) {
  for (const char* name :
       {"all-reduce", "all-reduce.3", "all-reduce-start.1",
        "%all-gather.7 = f32[8]{0} all-gather(%x)", "reduce-scatter.2", "all_gather.5", "psum",
        "psum.12", "psum_invariant.4", "pmax.1", "ppermute.2", "collective-permute-done.1",
        "ncclDevKernel_Generic", "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
        "void ncclKernel_SendRecv", "rcclGenericKernel<1, false>"}) {
    EXPECT_TRUE(IsCollectiveOp(name)) << name;
  }
}

TEST(Collective, OtherNames) {
  for (const char* name : {"", "fusion.3", "psummary.1", "all", "reduce.4", "all-reduced",
                           "copy-done.1", "pmaximum", "scatter.2", "loop_all_fusion"}) {
    EXPECT_FALSE(IsCollectiveOp(name)) << name;
  }
}

// The same word names different ops in different dialects.
TEST(Ops, DependOnTheDialect) {
  EXPECT_EQ(FindOp("select", PrintedForm::kHloOptimized).kind, OpKind::kElementwise);
  EXPECT_EQ(FindOp("stablehlo.select", PrintedForm::kStablehlo).kind, OpKind::kElementwise);
  EXPECT_EQ(FindOp("select", PrintedForm::kTorchtpuOps).kind, OpKind::kView);
  EXPECT_EQ(FindOp("xla::select", PrintedForm::kIrText).kind, OpKind::kView);
  EXPECT_TRUE(FindOp("xla::select", PrintedForm::kIrText).Has(OpTrait::kPart));
  EXPECT_EQ(FindFrameworkOp("select_n").kind, OpKind::kElementwise);
}

TEST(Ops, AnOverloadDoesNotMatter) {
  EXPECT_EQ(FindTorchOp("aten::repeat_interleave.Tensor").name, "aten::repeat_interleave");
  EXPECT_EQ(FindOp("mm.out", PrintedForm::kTorchtpuOps).kind, OpKind::kContraction);
}

TEST(Ops, AnInstructionIsCalledAfterItsOp) {
  EXPECT_EQ(FindInstruction("copy-start.3").name, "copy-start");
  EXPECT_EQ(FindInstruction("copy.3").name, "copy");
  EXPECT_EQ(FindInstruction("%recv-done.1 = f32[] recv-done(%a)").kind, OpKind::kSendRecv);
  EXPECT_EQ(FindInstruction("psum_invariant.4").name, "psum");
  EXPECT_EQ(FindInstruction("wrapped").kind, OpKind::kUnknown);
}

TEST(Ops, UnknownNamesHaveNoKind) {
  for (const char* name : {"", "aten::", "aten::no_such_op", "selection"}) {
    const Op& op = FindOp(name, PrintedForm::kIrText);
    EXPECT_EQ(op.kind, OpKind::kUnknown) << name;
    EXPECT_EQ(op.traits, 0u) << name;
  }
}

TEST(Ops, SqlTakesTheNamesOfAllForms) {
  EXPECT_EQ(SqlNamesOf(OpKind::kInput), "'parameter', 'stablehlo.parameter', 'xla::device_data'");
}

TEST(Ops, CompilersGiveNamesToInputs) {
  for (const char* name : {"p0", "p", "param_2", "Arg_1", "parameter"})
    EXPECT_TRUE(IsGivenInputName(name)) << name;
  for (const char* name : {"pixels", "x", "argument", "p0_x", ""})
    EXPECT_FALSE(IsGivenInputName(name)) << name;
  EXPECT_EQ(HloNameOf(OpKind::kInput), "parameter");
  EXPECT_EQ(HloNameOf(OpKind::kTuple), "tuple");
}

}  // namespace
}  // namespace xlaprof
