// Tests that errors name the operation, the shapes and the caller's line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/trace/functions.h"
#include "tests/core/trace/values.h"

namespace xlaprof::lazy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Case {
  std::function<void()> call;
  const char* said;
};

void Check(std::initializer_list<Case> cases) {
  for (const auto& [call, said] : cases)
    EXPECT_THAT(MessageOf(call), AllOf(HasSubstr(said), HasSubstr("errors_test.cc:")));
}

TEST(Errors, OfDimensions) {
  const Tensor x = ones({4}), index = zeros({4}, DType::kI64), table = ones({2, 3});
  Check({
      {[&] { sum(x, {3}); }, "aten::sum(f32[4]): dimension 3 is out of range: there are 1"},
      {[&] { prod(x, {3}); }, "aten::prod(f32[4])"},
      {[&] { amax(x, {3}); }, "aten::amax(f32[4])"},
      {[&] { amin(x, {-2}); }, "aten::amin(f32[4]): dimension -2 is out of range"},
      {[&] { mean(x, {3}); }, "aten::mean(f32[4])"},
      {[&] { argmax(x, 3); }, "aten::argmax(f32[4])"},
      {[&] { logsumexp(x, 3); }, "aten::logsumexp(f32[4])"},
      {[&] { softmax(x, 3); }, "aten::softmax(f32[4])"},
      {[&] { log_softmax(x, 3); }, "aten::log_softmax(f32[4])"},
      {[&] { index_select(x, 3, index); }, "aten::index_select(f32[4])"},
      {[&] { gather(x, 3, index); }, "aten::gather(f32[4])"},
      {[&] { scatter_add(x, 3, index, x); }, "aten::scatter_add(f32[4])"},
      {[&] { embedding(x, index); }, "aten::embedding(f32[4])"},
      {[&] { flip(x, {3}); }, "aten::flip(f32[4])"},
      {[&] { cat(std::vector{x, x}, 3); }, "aten::cat(f32[4])"},
      {[&] { stack(std::vector{x, x}, 3); }, "aten::stack(f32[4]): dimension 3 is out of range"},
      {[&] { x.size(3); }, "aten::size(f32[4])"},
      {[&] { x.transpose(0, 3); }, "aten::transpose(f32[4])"},
      {[&] { x.t(); }, "aten::transpose(f32[4])"},
      {[&] { table.permute({0, 3}); }, "aten::permute(f32[2,3]): dimension 3 is out of range"},
      {[&] { table.permute({0}); }, "aten::permute(f32[2,3]): [0] do not fit [2, 3]"},
      {[&] { x.slice(3, 0, 1); }, "aten::slice(f32[4])"},
      {[&] { x.select(3, 0); }, "aten::select(f32[4])"},
      {[&] { x.select(0, 4); }, "aten::select(f32[4]): index 4 is out of range"},
      {[&] { x.unsqueeze(3); },
       "aten::unsqueeze(f32[4]): dimension 3 is out of range: there are 2"},
      {[&] { x.squeeze(3); }, "aten::squeeze(f32[4])"},
      {[&] { x.flatten(3); }, "aten::flatten(f32[4])"},
      {[&] { pad(x, {1, 1}, {1}); }, "aten::constant_pad_nd(f32[4]): [1, 1] do not fit [4]"},
      {[&] { tril(x); }, "aten::tril(f32[4]): needs a matrix"},
      {[&] { topk(x, 5); }, "aten::topk(f32[4]): cannot take the 5 largest of 4"},
      {[&] { topk(full({}, 1), 1); }, "aten::topk(f32[]): dimension -1 is out of range"},
      {[&] { histc(x, 0, 0, 1); }, "aten::histc(f32[4]) cannot have 0 bins"},
      {[&] { x.view({-1, -1}); }, "aten::view(f32[4]): [-1, -1] do not fit [4]"},
  });
}

TEST(Errors, OfMasksOfAttention) {
  const Tensor x = ones({2, 3, 4});
  Check({
      {[&] { scaled_dot_product_attention(x, x, x, arange(3)); },
       "aten::scaled_dot_product_attention(f32[2,3,4], f32[2,3,4]): the mask is s64[3]"},
      {[&] { scaled_dot_product_attention(x, x, x, ones({3, 4})); },
       "the mask is f32[3,4], but must be of booleans or floats, with sizes that broadcast to "
       "[2, 3, 3]"},
      {[&] { scaled_dot_product_attention(x, x, x, ones({5, 2, 3, 3})); },
       "the mask is f32[5,2,3,3]"},
  });
}

TEST(Errors, OfIndicesThatAreFractions) {
  const Tensor x = ones({4}), table = ones({2, 3});
  Check({
      {[&] { index_select(table, 0, x); },
       "aten::index_select(f32[2,3], f32[4]): the index has type float32"},
      {[&] { gather(x, 0, x); }, "aten::gather(f32[4], f32[4])"},
      {[&] { scatter_add(x, 0, gt(x, 0), x); }, "aten::scatter_add(f32[4], pred[4]): the index"},
      {[&] { embedding(table, x); }, "aten::embedding(f32[2,3], f32[4])"},
      {[&] { one_hot(x, 3); }, "aten::one_hot(f32[4]): the index has type float32"},
  });
}

TEST(Errors, OfTwoShapes) {
  Tensor x = ones({4});
  Check({
      {[&] { matmul(ones({2, 3, 4}), ones({5, 4, 6})); },
       "aten::matmul(f32[2,3,4], f32[5,4,6]): sizes 2 and 5 of dimension -3 differ"},
      {[&] { matmul(ones({2, 3, 4}), ones({2, 5, 6})); },
       "aten::matmul(f32[2,3,4], f32[2,5,6]): 4 columns do not fit 5 rows"},
      {[&] { matmul(ones({2, 3, 4}), ones({5})); }, "aten::matmul(f32[2,3,4], f32[5])"},
      {[&] { x.add_(ones({2, 4})); },
       "aten::add_(f32[4], f32[2,4]): the result has sizes [2, 4], the tensor [4]"},
      {[&] { x.mul_(ones({5})); }, "aten::mul(f32[4], f32[5])"},
      {[&] { x.copy_(ones({5})); }, "aten::copy_(f32[4], f32[5])"},
      {[&] { x.copy_(ones({2, 4})); }, "aten::copy_(f32[4], f32[2,4]): [2, 4] do not fit [4]"},
      {[&] { masked_select(x, gt(ones({3}), 0)); }, "aten::masked_select(f32[4], pred[3])"},
  });
}

TEST(Errors, OfProbabilities) {
  const Tensor x = ones({4});
  Check({
      {[&] { dropout(x, 1.5); }, "aten::dropout(f32[4]): 1.5 is not a probability"},
      {[&] { dropout(x, -0.5); }, "-0.5 is not a probability"},
      {[&] { dropout(x, std::nan("")); }, "nan is not a probability"},
  });
  EXPECT_THAT(Values(dropout(x, 1)), ::testing::Each(0));
  EXPECT_THAT(Values(dropout(x, 0)), ::testing::Each(1));
}

TEST(Errors, OfGradients) {
  const Tensor leaf = ones({4}).requires_grad_();
  Tensor whole = arange(4), made = leaf + 1;
  Check({
      {[&] { whole.requires_grad_(); }, "aten::requires_grad_(s64[4]): only floating-point"},
      {[&] { made.requires_grad_(); }, "aten::requires_grad_(f32[4]): this tensor is the result"},
      {[] { Tensor().requires_grad_(); }, "an undefined tensor was used"},
  });
  EXPECT_THAT(MessageOf([] { Tensor().detach(); }), HasSubstr("an undefined tensor was used"));
}

TEST(Errors, OfConvolutions) {
  const Tensor x = ones({1, 4, 3, 3}), w = ones({4, 4, 1, 1}), line = ones({1, 2, 3});
  Check({
      {[&] { conv2d(x, w, Tensor(), 1, 0, 1, 2); },
       "aten::convolution_overrideable(f32[1,4,3,3], f32[4,4,1,1]): 4 channels do not fit a weight "
       "for 4 in each of 2 groups"},
      {[&] { conv2d(x, w, Tensor(), 1, 0, 1, 3); }, "4 channels cannot be divided into 3 groups"},
      {[&] { conv2d(x, w, Tensor(), 1, 0, 0); }, "dilation is 0"},
      {[&] { conv1d(x, line, Tensor()); },
       "aten::conv1d(f32[1,4,3,3], f32[1,2,3]): needs [batch, channels, length]"},
  });
}

TEST(Errors, OfBackward) {
  const Tensor x = ones({4}), w = ones({4}).requires_grad_(), y = w * 1;
  Check({
      {[&] { sum(x).backward(); }, "backward() of a tensor that does not depend on a tensor with"},
      {[&] { y.backward(); }, "backward() of a tensor of 4 elements: a loss must have one element"},
      {[&] { y.backward(ones({3})); },
       "backward(): the gradient is f32[3] on CPU:0, but the tensor is f32[4] on CPU:0"},
      {[&] { autograd::grad({sum(y)}, {x}); },
       "autograd::grad(): input 0, f32[4], needs no gradient"},
      {[&] { autograd::grad({sum(w)}, {w, y}); },
       "autograd::grad(): no output depends on input 1, f32[4]"},
      {[&] { autograd::grad({}, {w}); }, "autograd::grad() of 0 outputs and 1 inputs"},
      {[&] { autograd::grad({sum(w)}, {w}, {x, x}); },
       "autograd::grad(): there are 1 outputs, but 2 gradients of outputs"},
      {[&] { autograd::grad({y}, {w}); }, "autograd::grad() of a tensor of 4 elements"},
  });
}

}  // namespace
}  // namespace xlaprof::lazy
