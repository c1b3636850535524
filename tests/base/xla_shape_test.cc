#include "base/xla_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xlaprof {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(XlaShapeTest, ReadsArrays) {
  const auto shape = XlaShape::Parse("f32[64,1,28,28]{3,2,1,0}");
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->element_type(), "f32");
  EXPECT_THAT(shape->dimensions(), ElementsAre(64, 1, 28, 28));
  EXPECT_EQ(shape->rank(), 4u);
  EXPECT_FALSE(shape->is_scalar());
  EXPECT_FALSE(shape->is_tuple());
  EXPECT_TRUE(shape->has_layout());
  EXPECT_EQ(shape->WithoutLayout().text(), "f32[64,1,28,28]");
  EXPECT_FALSE(shape->WithoutLayout().has_layout());
  EXPECT_THAT(shape->WithoutLayout().dimensions(), ElementsAre(64, 1, 28, 28));
}

TEST(XlaShapeTest, ReadsScalars) {
  for (const char* text : {"s64[]", "pred[]", "key<fry>[]", "f32[]{weak_type=True}"}) {
    const auto shape = XlaShape::Parse(text);
    ASSERT_TRUE(shape) << text;
    EXPECT_TRUE(shape->is_scalar()) << text;
    EXPECT_EQ(shape->rank(), 0u) << text;
  }
  EXPECT_EQ(XlaShape::Parse("key<fry>[]")->element_type(), "key<fry>");
}

TEST(XlaShapeTest, ReadsBoundsAndUnknownSizes) {
  EXPECT_THAT(XlaShape::Parse("f32[<=10,5]{1,0}")->dimensions(), ElementsAre(10, 5));
  EXPECT_THAT(XlaShape::Parse("f32[?,5]")->dimensions(), ElementsAre(XlaShape::kUnknownSize, 5));
  EXPECT_THAT(XlaShape::Parse("f32[8@data,16@(x,y)]"), testing::Eq(std::nullopt));
  EXPECT_THAT(XlaShape::Parse("float32[8@data,16]")->dimensions(), ElementsAre(8, 16));
}

TEST(XlaShapeTest, ReadsTuples) {
  const auto shape = XlaShape::Parse("(f32[2,3]{1,0:T(8,128)(2,1)}, s32[], /*index=2*/(pred[4]))");
  ASSERT_TRUE(shape);
  EXPECT_TRUE(shape->is_tuple());
  EXPECT_FALSE(shape->is_scalar());
  EXPECT_EQ(shape->element_type(), "");
  EXPECT_THAT(shape->dimensions(), IsEmpty());
  EXPECT_EQ(shape->result_count(), 3u);
  ASSERT_EQ(shape->elements().size(), 3u);
  EXPECT_EQ(shape->elements()[0].text(), "f32[2,3]{1,0:T(8,128)(2,1)}");
  EXPECT_TRUE(shape->elements()[1].is_scalar());
  EXPECT_EQ(shape->elements()[2].elements()[0].text(), "pred[4]");
  EXPECT_EQ(shape->WithoutLayout().text(), "(f32[2,3], s32[], /*index=2*/(pred[4]))");
  EXPECT_EQ(shape->WithoutLayout().elements()[0].text(), "f32[2,3]");
  EXPECT_EQ(XlaShape::Parse("()"), XlaShape());
  EXPECT_EQ(XlaShape().result_count(), 0u);
  EXPECT_EQ(XlaShape::Parse("f32[2]")->result_count(), 1u);
}

// These texts come from dumps, profiles and logs.
TEST(XlaShapeTest, PrintsWhatItRead) {
  for (const char* text :
       {"f32[4,16,64,64]{3,2,1,0}", "bf16[]", "u8[1,2,3,4,5]{4,3,2,1,0}",
        "f32[8,16,128,128]{3,2,1,0:T(8,128)S(5)}", "s4[16]{0:E(4)}", "f8e4m3fn[128,256]{1,0}",
        "(s32[], u32[4,8]{1,0}, u32[4,8]{1,0}, u32[], u32[2]{0})", "(f32[])", "(s32[],s32[])",
        "c64[3]{0}", "complex<f32>[4]", "token[]", "opaque[]", "i32[8,16]", "f32[0,3]",
        "f32[<=5,1]{1,0}", "pred[64,10]{1,0}", "float32[64,10]", "f32[8]{V:data}"}) {
    const auto shape = XlaShape::Parse(text);
    ASSERT_TRUE(shape) << text;
    EXPECT_EQ(shape->text(), text);
  }
}

TEST(XlaShapeTest, IsEqualIfItPrintsAlike) {
  EXPECT_EQ(XlaShape::Parse("f32[2]{0}"), XlaShape::Parse("f32[2]{0}"));
  EXPECT_NE(XlaShape::Parse("f32[2]{0}"), XlaShape::Parse("f32[2]"));
  EXPECT_EQ(XlaShape::Parse("f32[2]{0}")->WithoutLayout(), XlaShape::Parse("f32[2]"));
  EXPECT_NE(XlaShape::Parse("f32[<=2]"), XlaShape::Parse("f32[2]"));
}

TEST(XlaShapeTest, RefusesWhatIsNoShape) {
  for (const char* text : {"",
                           "f32",
                           "f32[",
                           "f32[2",
                           "f32]2[",
                           "[2]",
                           "2[3]",
                           "f32[2,]",
                           "f32[,2]",
                           "f32[-2]",
                           "f32[2 ,3]",
                           "f32[b]",
                           "f32[2]{0",
                           "f32[2]{0}x",
                           "f32[2] ",
                           " f32[2]",
                           "(",
                           ")",
                           "(f32[2]",
                           "(f32[2],)",
                           "(f32[2]))",
                           "(,)",
                           "(/*index=0 f32[2])",
                           "f32[99999999999999999999]",
                           "f32[<=]",
                           "f32[<=-3]",
                           "f32<[2]",
                           "ShapedArray(float32[2])",
                           "None",
                           "!stablehlo.token",
                           "tensor<2xf32>",
                           "a word [2]",
                           "f32[2]f32[3]",
                           "\xff\xfe[2]"})
    EXPECT_FALSE(XlaShape::Parse(text)) << text;
  EXPECT_FALSE(XlaShape::Parse(std::string_view("f32\0[2]", 7)));
  EXPECT_FALSE(XlaShape::Parse(std::string(1'000'000, '(')));
  EXPECT_FALSE(XlaShape::Parse(std::string(100, '(') + std::string(100, ')')));
}

TEST(XlaShapeTest, ReadsMlirTensors) {
  auto text = [](std::string_view type) {
    const auto shape = XlaShape::ParseMlir(type);
    return shape ? shape->text() : "";
  };
  EXPECT_EQ(text("tensor<64x10xf32>"), "f32[64,10]");
  EXPECT_EQ(text("tensor<f32>"), "f32[]");
  EXPECT_EQ(text("tensor<2x?xi32>"), "s32[2,?]");
  EXPECT_EQ(text("tensor<i1>"), "pred[]");
  EXPECT_EQ(text("tensor<4xui8>"), "u8[4]");
  EXPECT_EQ(text("tensor<8xf32, #stablehlo.bounds<8>>"), "f32[8]");
  EXPECT_EQ(text("tensor<4xcomplex<f32>>"), "complex<f32>[4]");
  for (const char* type : {"", "tensor<", "tensor<>", "tensor<2x3x>", "tuple<tensor<f32>>",
                           "!stablehlo.token", "f32[2]", "tensor<4x!quant.uniform<i8:f32, 0.1>>"})
    EXPECT_EQ(text(type), "") << type;
}

TEST(XlaShapeTest, LayoutsCanBeLeftOutOfAnyText) {
  EXPECT_EQ(WithoutLayout("f32[64,1]{1,0}"), "f32[64,1]");
  EXPECT_EQ(WithoutLayout("(f32[2,3]{1,0:T(8,128)}, s32[])"), "(f32[2,3], s32[])");
  EXPECT_EQ(WithoutLayout("!stablehlo.token"), "!stablehlo.token");
  EXPECT_EQ(WithoutLayout("f32[2]{0"), "f32[2]");
  EXPECT_EQ(WithoutLayout("}f32[2]"), "f32[2]");
}

}  // namespace
}  // namespace xlaprof
