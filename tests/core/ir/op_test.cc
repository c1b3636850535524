// Tests shape rules and their messages about operands that do not fit.
#include "core/ir/op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/ir/error.h"

namespace xlaprof::lazy {
namespace {

constexpr DType kB = DType::kBool, kI64 = DType::kI64, kF32 = DType::kF32;

Shape ShapeOf(const Op& op, const std::vector<Shape>& operands, const Attributes& attributes = {}) {
  std::vector<const Shape*> shapes;
  for (const Shape& operand : operands) shapes.push_back(&operand);
  return op.shape(shapes, attributes);
}

// Returns the result as text, or the message of the Error.
std::string Of(const Op& op, const std::vector<Shape>& operands,
               const Attributes& attributes = {}) {
  try {
    return ShapeOf(op, operands, attributes).ToText();
  } catch (const Error& error) {
    return error.what();
  }
}

double Flops(const Op& op, const std::vector<Shape>& operands, const Attributes& attributes) {
  std::vector<const Shape*> shapes;
  for (const Shape& operand : operands) shapes.push_back(&operand);
  return op.flops(shapes, op.shape(shapes, attributes), attributes);
}

TEST(Ops, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const Op* op : AllOps()) {
    EXPECT_TRUE(names.insert(op->name).second) << op->name;
    EXPECT_NE(op->shape, nullptr) << op->name;
    for (size_t i = 0; i + 1 < op->attributes.size(); ++i)
      EXPECT_FALSE(op->attributes[i].ends_with("...")) << op->name;
  }
  EXPECT_EQ(names.size(), 76u);
}

TEST(ElementwiseShapes, AreTheOperands) {
  EXPECT_EQ(Of(op::add, {{kF32, {2, 3}}, {kF32, {2, 3}}}), "f32[2,3]");
  EXPECT_EQ(Of(op::lt, {{kF32, {2}}, {kF32, {2}}}), "pred[2]");
  EXPECT_EQ(Of(op::where, {{kB, {2}}, {kI64, {2}}, {kI64, {2}}}), "s64[2]");
  EXPECT_EQ(Of(op::cast, {{kB, {}}}, {int64_t(DType::kBF16)}), "bf16[]");
  EXPECT_EQ(Of(op::constant, {}, {1, int64_t(kI64)}), "s64[]");

  EXPECT_EQ(Of(op::add, {{kF32, {2, 8}}, {kF32, {2, 9}}}), "sizes of dimension 1 differ: 8 and 9");
  EXPECT_EQ(Of(op::add, {{kF32, {2}}, {kF32, {}}}), "numbers of dimensions differ: 1 and 0");
  EXPECT_EQ(Of(op::add, {{kF32, {2}}, {kI64, {2}}}), "types differ: f32 and s64");
  EXPECT_EQ(Of(op::add, {{kF32, {2}}}), "takes 2 operands, not 1");
  EXPECT_EQ(Of(op::sub, {{kB, {2}}, {kB, {2}}}), "needs numbers, not pred");
  EXPECT_EQ(Of(op::exp, {{kI64, {2}}}), "needs floating-point numbers, not s64");
  EXPECT_EQ(Of(op::logical_not, {{kI64, {2}}}), "needs pred, not s64");
  EXPECT_EQ(Of(op::cast, {{kB, {}}}, {kDTypes}), "type 10 does not exist");
}

TEST(ShapeOps, MoveElements) {
  const Shape shape{kF32, {2, 1, 4}};
  EXPECT_EQ(Of(op::expand, {shape}, {5, 2, 3, 4}), "f32[5,2,3,4]");
  EXPECT_EQ(Of(op::expand, {shape}, {2, 3, 5}), "size of dimension 2 is 4, neither 1 nor 5");
  EXPECT_EQ(Of(op::expand, {shape}, {4}), "f32[2,1,4] has more dimensions than [4]");
  EXPECT_EQ(Of(op::view, {shape}, {8}), "f32[8]");
  EXPECT_EQ(Of(op::view, {shape}, {3, 3}), "f32[2,1,4] has 8 elements, [3, 3] has 9");
  EXPECT_EQ(Of(op::permute, {shape}, {2, 0, 1}), "f32[4,2,1]");
  EXPECT_EQ(Of(op::permute, {shape}, {2, 0, 2}), "dimension 2 is named twice");
  EXPECT_EQ(Of(op::slice, {shape}, {2, 0, 4, 3}), "f32[2,1,2]");
  EXPECT_EQ(Of(op::slice, {shape}, {2, 3, 5, 1}),
            "3 to 5 is outside of dimension 2, whose size is 4");
  EXPECT_EQ(Of(op::slice, {shape}, {3, 0, 1, 1}), "f32[2,1,4] has no dimension 3");
  EXPECT_EQ(Of(op::slice_scatter, {shape, {kF32, {2, 1, 3}}}, {2, 0, 4, 2}),
            "sizes of dimension 2 differ: 2 and 3");
  EXPECT_EQ(Of(op::cat, {shape, {kF32, {2, 5, 4}}}, {1}), "f32[2,6,4]");
  EXPECT_EQ(Of(op::cat, {shape, {kF32, {2, 5, 3}}}, {1}), "sizes of dimension 2 differ: 4 and 3");
  EXPECT_EQ(Of(op::pad, {{kF32, {3}}}, {0, 2, -1}), "f32[4]");
  EXPECT_EQ(Of(op::pad, {{kF32, {3}}}, {0, -2, -2}), "size of dimension 0 would become -1");
  EXPECT_EQ(Of(op::flip, {shape}, {2, 0}), "dimensions are not in ascending order: 0 after 2");
}

TEST(Contractions, NeedOneSizeInCommon) {
  EXPECT_EQ(Of(op::mm, {{kF32, {3, 4}}, {kF32, {4, 5}}}), "f32[3,5]");
  EXPECT_EQ(Of(op::mm, {{kF32, {3, 4}}, {kF32, {3, 5}}}),
            "4 columns do not fit 3 rows of the second operand");
  EXPECT_EQ(Of(op::bmm, {{kF32, {2, 3, 4}}, {kF32, {3, 4, 5}}}),
            "numbers of matrices differ: 2 and 3");
  EXPECT_EQ(Of(op::mm, {{kF32, {4}}, {kF32, {4, 5}}}), "f32[4] has 1 dimensions, not 2");
  EXPECT_EQ(Flops(op::mm, {{kF32, {3, 4}}, {kF32, {4, 5}}}, {}), 2 * 3 * 4 * 5);
}

TEST(Convolutions, AndTheirGradientsAgree) {
  const Shape input{kF32, {8, 3, 9, 7}}, weight{kF32, {5, 3, 3, 2}};
  const Shape result = ShapeOf(op::convolution, {input, weight}, {2, 1, 1, 0, 1, 1, 1});
  EXPECT_EQ(result.ToText(), "f32[8,5,5,6]");
  EXPECT_EQ(ShapeOf(op::convolution_backward_input, {weight, result}, {2, 1, 1, 0, 1, 1, 1, 9, 7}),
            input);
  EXPECT_EQ(ShapeOf(op::convolution_backward_weight, {input, result}, {2, 1, 1, 0, 1, 1, 1, 3, 2}),
            weight);
  EXPECT_EQ(Of(op::convolution_backward_input, {weight, result}, {2, 1, 1, 0, 1, 1, 1, 9, 8}),
            "sizes of dimension 3 differ: 7 and 6");
  EXPECT_EQ(Of(op::convolution, {input, {kF32, {5, 4, 3, 2}}}, {1, 1, 0, 0, 1, 1, 1}),
            "3 channels do not fit a weight for 4");
  EXPECT_EQ(Of(op::convolution, {input, {kF32, {5, 3, 12, 2}}}, {1, 1, 1, 0, 1, 1, 1}),
            "a weight of 12 does not fit 9 with a padding of 1");
  const double flops = 2.0 * 8 * 5 * 5 * 6 * 3 * 3 * 2;
  EXPECT_EQ(Flops(op::convolution, {input, weight}, {2, 1, 1, 0, 1, 1, 1}), flops);
  EXPECT_EQ(Flops(op::convolution_backward_input, {weight, result}, {2, 1, 1, 0, 1, 1, 1, 9, 7}),
            flops);
  EXPECT_EQ(Flops(op::convolution_backward_weight, {input, result}, {2, 1, 1, 0, 1, 1, 1, 3, 2}),
            flops);
}

TEST(Convolutions, MayBeDilatedAndGrouped) {
  const Shape input{kF32, {8, 6, 9, 7}}, weight{kF32, {4, 3, 3, 2}};
  const Attributes how{1, 1, 0, 0, 2, 3, 2};
  const Shape result = ShapeOf(op::convolution, {input, weight}, how);
  EXPECT_EQ(result.ToText(), "f32[8,4,5,4]");
  const Attributes to_input{1, 1, 0, 0, 2, 3, 2, 9, 7}, to_weight{1, 1, 0, 0, 2, 3, 2, 3, 2};
  EXPECT_EQ(ShapeOf(op::convolution_backward_input, {weight, result}, to_input), input);
  EXPECT_EQ(ShapeOf(op::convolution_backward_weight, {input, result}, to_weight), weight);
  EXPECT_EQ(Flops(op::convolution, {input, weight}, how), 2.0 * 8 * 4 * 5 * 4 * 3 * 3 * 2);
  auto of = [&](int64_t dilation, int64_t groups, const Shape& weight) {
    return Of(op::convolution, {input, weight}, {1, 1, 0, 0, dilation, 1, groups});
  };
  EXPECT_EQ(of(1, 4, weight), "6 channels cannot be divided into 4 groups");
  EXPECT_EQ(of(1, 0, weight), "6 channels cannot be divided into 0 groups");
  EXPECT_EQ(of(1, 3, {kF32, {4, 2, 1, 1}}), "4 results cannot be divided into 3 groups");
  EXPECT_EQ(of(1, 2, {kF32, {4, 6, 1, 1}}),
            "6 channels do not fit a weight for 6 in each of 2 groups");
  EXPECT_EQ(of(0, 2, weight), "dilation is 0");
  EXPECT_EQ(of(5, 2, weight),
            "a weight of 3 with a dilation of 5 does not fit 9 with a padding of 0");
}

TEST(Reductions, KeepDimensionsOrNot) {
  const Shape shape{kF32, {3, 4, 5}};
  EXPECT_EQ(Of(op::sum, {shape}, {0, 0, 2}), "f32[4]");
  EXPECT_EQ(Of(op::sum, {shape}, {1, 0, 2}), "f32[1,4,1]");
  EXPECT_EQ(Of(op::sum, {shape}, {0}), "f32[3,4,5]");
  EXPECT_EQ(Of(op::argmax, {shape}, {0, 1}), "s64[3,5]");
  EXPECT_EQ(Of(op::sum, {{kF32, {0}}}, {0, 0}), "f32[]");
  EXPECT_EQ(Of(op::amax, {{kF32, {0}}}, {0, 0}),
            "dimension 0 is empty, so it has no largest or smallest element");
  EXPECT_EQ(Of(op::sum, {shape}, {0, 1, 1}), "dimensions are not in ascending order: 1 after 1");
  EXPECT_EQ(Of(op::sum, {{kB, {2}}}, {0, 0}), "needs numbers, not pred");
  EXPECT_EQ(Flops(op::sum, {shape}, {0, 0, 2}), 60);
}

TEST(Indexing, FollowsTheIndex) {
  const Shape shape{kF32, {4, 3}};
  EXPECT_EQ(Of(op::index_select, {shape, {kI64, {7}}}, {0}), "f32[7,3]");
  EXPECT_EQ(Of(op::index_select, {shape, {kF32, {7}}}, {0}),
            "an index must be s32 or s64, not f32");
  EXPECT_EQ(Of(op::gather, {shape, {kI64, {2, 9}}}, {1}), "f32[2,9]");
  EXPECT_EQ(Of(op::gather, {shape, {kI64, {5, 9}}}, {1}),
            "size 5 of the index's dimension 0 is greater than 4");
  EXPECT_EQ(Of(op::scatter_add, {shape, {kI64, {2, 9}}, {kF32, {3, 9}}}, {1}), "f32[4,3]");
  EXPECT_EQ(Of(op::index_add, {shape, {kI64, {7}}, {kF32, {7, 3}}}, {0}), "f32[4,3]");
  EXPECT_EQ(Of(op::index_add, {shape, {kI64, {7}}, {kF32, {6, 3}}}, {0}),
            "sizes of dimension 0 differ: 7 and 6");
  EXPECT_EQ(Of(op::index_select, {{kF32, {0, 3}}, {kI64, {1}}}, {0}),
            "dimension 0 is empty, so no index is in range");
  EXPECT_EQ(Of(op::arange, {}, {AttributeOf(0), AttributeOf(1), 6, int64_t(kI64)}), "s64[6]");
}

TEST(Pooling, OfWindowsThatFit) {
  const Shape input{kF32, {2, 3, 7, 8}};
  EXPECT_EQ(Of(op::max_pool2d, {input}, {3, 2, 2, 2, 1, 0}), "f32[2,3,4,4]");
  EXPECT_EQ(Of(op::avg_pool2d_backward, {{kF32, {2, 3, 4, 4}}, input}, {3, 2, 2, 2, 1, 0}),
            "f32[2,3,7,8]");
  EXPECT_EQ(Of(op::max_pool2d, {input}, {3, 2, 2, 2, 2, 0}),
            "padding is 2, not from 0 to half of the kernel's 3");
  EXPECT_EQ(Of(op::max_pool2d, {input}, {9, 2, 1, 1, 0, 0}),
            "a kernel of 9 does not fit 7 with a padding of 0");
  EXPECT_EQ(Of(op::uniform, {{kI64, {}}}, {3, 2}), "f32[3,2]");
  EXPECT_EQ(Of(op::uniform, {{kF32, {}}}, {3, 2}), "a seed must be s64, not f32");
}

TEST(BatchNorm, HasOutputs) {
  const Shape x{kF32, {2, 3, 4, 4}}, channels{kF32, {3}};
  const Attributes of[] = {{AttributeOf(1e-5), 0}, {AttributeOf(1e-5), 1}, {AttributeOf(1e-5), 2}};
  for (int i = 0; i < 3; ++i) {
    const char* shape = i == 0 ? "f32[2,3,4,4]" : "f32[3]";
    EXPECT_EQ(Of(op::native_batch_norm, {x, channels, channels}, of[i]), shape);
    EXPECT_EQ(Of(op::native_batch_norm_backward, {x, x, channels, channels, channels}, of[i]),
              shape);
  }
  EXPECT_EQ(Of(op::batch_norm_inference, {x, channels, channels, channels, channels},
               {AttributeOf(1e-5)}),
            "f32[2,3,4,4]");
  EXPECT_EQ(Of(op::native_batch_norm, {{kF32, {5, 3}}, channels, channels}, of[0]), "f32[5,3]");
  EXPECT_EQ(Of(op::native_batch_norm, {x, channels, channels}, {AttributeOf(1e-5), 3}),
            "output 3 does not exist");
  EXPECT_EQ(Of(op::native_batch_norm, {x, channels, {kF32, {4}}}, of[0]),
            "sizes of dimension 0 differ: 3 and 4");
  EXPECT_EQ(Of(op::native_batch_norm, {channels, channels, channels}, of[0]),
            "f32[3] has no channels");
  EXPECT_EQ(Of(op::native_batch_norm, {{kF32, {0, 3}}, channels, channels}, of[0]),
            "f32[0,3] is empty, so it has no mean");
  double flops = 0;
  for (const Attributes& output : of)
    flops += Flops(op::native_batch_norm, {x, channels, channels}, output);
  EXPECT_EQ(flops, 6 * 96);
}

}  // namespace
}  // namespace xlaprof::lazy
