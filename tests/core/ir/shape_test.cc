// Tests types, shapes and hashes, and their texts.
#include "core/ir/shape.h"

#include <gtest/gtest.h>

#include "core/ir/hash.h"

namespace xlaprof::lazy {
namespace {

TEST(DType, PromotesAsPyTorchDoes) {
  // Rows and columns are in the order of DType; the values are torch.promote_types.
  using enum DType;
  const DType expected[kDTypes][kDTypes] = {
      {kBool, kU8, kI8, kI16, kI32, kI64, kBF16, kF16, kF32, kF64},
      {kU8, kU8, kI16, kI16, kI32, kI64, kBF16, kF16, kF32, kF64},
      {kI8, kI16, kI8, kI16, kI32, kI64, kBF16, kF16, kF32, kF64},
      {kI16, kI16, kI16, kI16, kI32, kI64, kBF16, kF16, kF32, kF64},
      {kI32, kI32, kI32, kI32, kI32, kI64, kBF16, kF16, kF32, kF64},
      {kI64, kI64, kI64, kI64, kI64, kI64, kBF16, kF16, kF32, kF64},
      {kBF16, kBF16, kBF16, kBF16, kBF16, kBF16, kBF16, kF32, kF32, kF64},
      {kF16, kF16, kF16, kF16, kF16, kF16, kF32, kF16, kF32, kF64},
      {kF32, kF32, kF32, kF32, kF32, kF32, kF32, kF32, kF32, kF64},
      {kF64, kF64, kF64, kF64, kF64, kF64, kF64, kF64, kF64, kF64},
  };
  for (size_t a = 0; a < kDTypes; ++a) {
    for (size_t b = 0; b < kDTypes; ++b)
      EXPECT_EQ(Promote(DType(a), DType(b)), expected[a][b])
          << TorchName(DType(a)) << " " << TorchName(DType(b));
  }
}

TEST(DType, HasOneSizeAndThreeNames) {
  for (size_t i = 0; i < kDTypes; ++i) {
    const DType type = DType(i);
    VisitDType(type, [&](auto value) {
      EXPECT_EQ(DTypeOf<decltype(value)>(), type);
      EXPECT_EQ(ByteSize(type), int64_t(sizeof(value)));
    });
    EXPECT_EQ(IsFloat(type), XlaName(type).find('f') != std::string_view::npos);
  }
  EXPECT_EQ(XlaName(DType::kBool), "pred");
  EXPECT_EQ(StableHloName(DType::kI64), "i64");
  EXPECT_EQ(TorchName(DType::kBF16), "bfloat16");
  EXPECT_EQ(XlaName(DType::kU8), "u8");
  EXPECT_EQ(StableHloName(DType::kU8), "ui8");
  EXPECT_EQ(TorchName(DType::kI8), "int8");
}

TEST(Shape, HasFourTexts) {
  const Shape shape{DType::kF32, {16, 8}};
  EXPECT_EQ(shape.ToText(), "f32[16,8]");
  EXPECT_EQ(shape.ToXlaText(), "f32[16,8]{1,0}");
  EXPECT_EQ(shape.ToStableHlo(), "tensor<16x8xf32>");
  EXPECT_EQ(SizesText(shape.dims), "[16, 8]");
  const Shape scalar{DType::kBool, {}};
  EXPECT_EQ(scalar.ToText(), "pred[]");
  EXPECT_EQ(scalar.ToXlaText(), "pred[]");
  EXPECT_EQ(scalar.ToStableHlo(), "tensor<i1>");
  EXPECT_EQ(SizesText(scalar.dims), "[]");
}

TEST(Shape, LastDimensionIsDense) {
  EXPECT_EQ(RowMajorStrides({2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(RowMajorStrides({}), Dims{});
  EXPECT_EQ((Shape{DType::kBF16, {2, 3}}.bytes()), 12);
}

TEST(Hash, IsPrintedAsTorchXlaDoes) {
  EXPECT_EQ((Hash{0x1a2b, 0x3c}.ToText()), "1a2b000000000000003c");
  EXPECT_EQ((Hash{0xfedcba9876543210, 0x0123456789abcdef}.ToText()),
            "fedcba98765432100123456789abcdef");
}

// Hashes are names in logs and files, so every process, build and year must compute the same.
TEST(Hash, StaysTheSame) {
  const Hash hash =
      Mix(Mix(Mix(Hash{}, uint64_t{42}), "aten::slice_scatter"), std::vector<int64_t>{1, -2});
  EXPECT_EQ(hash.ToText(), "72e60bd810992261c7531ca88933f833");
  EXPECT_NE(Mix(Hash{}, "ab").ToText(), Mix(Mix(Hash{}, "a"), "b").ToText());
  EXPECT_NE(Mix(Hash{}, Hash{1, 2}), Mix(Hash{}, Hash{2, 1}));
}

}  // namespace
}  // namespace xlaprof::lazy
