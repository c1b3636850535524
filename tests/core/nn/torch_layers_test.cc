// Tests layers that have no short formula against torch 2.9, whose values these are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/nn/multihead_attention.h"
#include "tests/core/nn/sines.h"
#include "tests/core/trace/values.h"

namespace xlaprof::lazy {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

void ExpectValues(const Tensor& tensor, const std::vector<double>& expected) {
  const HostTensor host = tensor.to_cpu();
  const auto values = host.values<double>();
  EXPECT_THAT(std::vector<double>(values.begin(), values.end()),
              Pointwise(DoubleNear(2e-14), expected));
}

// Gives the parameters values of f64, from `seed` on.
void Fill(nn::Module& module, std::initializer_list<std::string> names, int seed) {
  module.to(DType::kF64);
  State state = module.state_dict();
  for (const std::string& name : names) state[name] = Sines(state[name].sizes(), seed++);
  module.load_state_dict(state);
}

TEST(GroupNorm, EqualsTorch) {
  nn::GroupNorm norm(2, 4);
  Fill(norm, {"weight", "bias"}, 3);
  Tensor x = Sines({2, 4, 3}, 5).requires_grad_();
  const Tensor y = norm(x);
  sum(y * Sines({2, 4, 3}, 6)).backward();
  ExpectValues(y, {-0.926671691781118, -0.80657129017326,  -0.684345482334732, -1.895824251986881,
                   -1.749899861044352, -0.020355154602138, 1.329507257145421,  0.764108939660982,
                   1.391446117347494,  1.024941685301406,  1.079265895736043,  -0.421473305003816,
                   -0.888962320679592, -0.87417286176518,  -0.535456726760238, -0.994950030957701,
                   -1.765062622408642, -0.267908417858137, 1.628730437168502,  1.880858363300903,
                   1.097620420741192,  0.651139745129987,  1.327514764354466,  0.620557578301775});
  ExpectValues(x.grad(),
               {-0.259784303593314, 0.084458642336606,  0.054086237946702,  -0.313975420112218,
                0.270299605445753,  0.164915237976471,  -0.845387148069791, -1.447358699780108,
                1.596072266900198,  0.472134565473503,  0.305901345499747,  -0.081362330023549,
                -0.599681888551068, -0.678950737112694, -1.10670262910031,  1.314557063518818,
                0.77081872889553,   0.299959462349722,  -0.030237405105503, 0.619920876102426,
                -0.474715476016686, -0.34575872700584,  0.604283706558865,  -0.373492974533262});
  ExpectValues(norm.weight.grad(),
               {2.425972206748452, 0.517645354476763, 0.830672100487081, 2.859714201042773});
  ExpectValues(norm.bias.grad(),
               {-0.876042628310882, -2.011358924826807, -1.408471735894302, 0.915986699476647});
}

TEST(GroupNorm, RefusesWhatItCannotDivide) {
  EXPECT_THAT(MessageOf([&] { nn::GroupNorm(3, 4); }), HasSubstr("4 channels"));
  EXPECT_THAT(MessageOf([&] {
                group_norm(ones({2, 4, 3}), 3);
              }),
              HasSubstr("aten::group_norm(f32[2,4,3]): the channels cannot be divided into 3"));
  EXPECT_THAT(MessageOf([&] { group_norm(ones({2, 4}), 4); }), HasSubstr("no variance"));
}

class Attention : public testing::Test {
 protected:
  static void FillAll(nn::MultiheadAttention& attention) {
    Fill(attention, {"in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"}, 10);
  }
  const Tensor query_ = Sines({2, 3, 4}, 1), key_ = Sines({3, 3, 4}, 2),
               value_ = Sines({3, 3, 4}, 3);
  const std::vector<double> output_{
      0.104848537990455,  2.740531240506745, 1.170651452352506,  2.429636187438777,
      -0.507743591768929, 1.904546456429745, -2.246255498450822, 3.879891742441694,
      -0.67615160410529,  2.494792707299102, -0.836404565065594, 1.463460210221892,
      0.283286263368581,  2.124907286146077, 0.107148173152564,  1.259161971151221,
      -0.510907945708772, 1.906670897710762, -2.251316944652416, 3.885893506905979,
      0.330506021961373,  2.136930484400548, 0.756155085779665,  0.384253231863097};
  const std::vector<double> weights_{0.361067044965595,
                                     0.638932955034405,
                                     0.0,
                                     0.434310252153084,
                                     0.299438557991026,
                                     0.26625118985589,
                                     0.50648450559699,
                                     0.49351549440301,
                                     0.0,
                                     0.506792293764998,
                                     0.493207706235002,
                                     0.0,
                                     0.0,
                                     1.0,
                                     0.0,
                                     0.0,
                                     0.530196857080778,
                                     0.469803142919222};
};

nn::AttentionMasks Masks() {
  const Tensor of_times =
      Tensor::FromHost(std::span<const int64_t>(std::vector<int64_t>{0, 0, 1, 0, 0, 0}), {2, 3});
  const Tensor padded = Tensor::FromHost(
      std::span<const int64_t>(std::vector<int64_t>{0, 0, 0, 0, 0, 1, 1, 0, 0}), {3, 3});
  return {.attn_mask = of_times.to(DType::kBool), .key_padding_mask = padded.to(DType::kBool)};
}

TEST_F(Attention, EqualsTorch) {
  nn::MultiheadAttention attention(4, 2);
  FillAll(attention);
  Tensor query = query_.detach().requires_grad_();
  const auto [output, weights] = attention(query, key_, value_, Masks());
  sum(output * Sines({2, 3, 4}, 7)).backward();
  ExpectValues(output, output_);
  ExpectValues(weights, weights_);
  ExpectValues(query.grad(), {0.401592225835537,
                              -0.11607609508269,
                              0.309077091116401,
                              0.274134216351564,
                              -0.065656410395971,
                              0.012170467143296,
                              -0.095136758587692,
                              0.008021244058997,
                              0.0,
                              0.0,
                              0.0,
                              0.0,
                              -0.438625622701581,
                              0.068774081998482,
                              -0.23254682448698,
                              -0.244860144439906,
                              -0.070602935238905,
                              0.013631891760607,
                              -0.10131820481538,
                              0.006602144425846,
                              0.024099279765277,
                              -0.470148124099347,
                              0.603027169715466,
                              0.202772035379419});
  ExpectValues(attention.in_proj_bias.grad(),
               {0.359226188557576, 0.412517187994454, 0.257331458701728, 0.239439522867789, 1e-15,
                1e-15, -1e-15, -0.0, 0.865004964176071, -1.600952189554164, -1.533927297839563,
                -4.482285122329206});
}

TEST_F(Attention, TakesTheBatchFirst) {
  nn::MultiheadAttention attention(4, 2, {.batch_first = true});
  FillAll(attention);
  const auto turned = [](const Tensor& x) { return x.transpose(0, 1); };
  const auto [output, weights] = attention(turned(query_), turned(key_), turned(value_), Masks());
  ExpectValues(turned(output), output_);
  ExpectValues(weights, weights_);
}

TEST_F(Attention, TakesAMaskPerHead) {
  nn::MultiheadAttention attention(4, 2);
  FillAll(attention);
  nn::AttentionMasks masks = Masks();
  masks.attn_mask = masks.attn_mask.unsqueeze(0).expand({6, 2, 3}).clone();
  const auto [output, weights] = attention(query_, key_, value_, masks);
  ExpectValues(output, output_);
  ExpectValues(weights, weights_);
}

TEST_F(Attention, WorksWithoutABatch) {
  nn::MultiheadAttention attention(4, 2);
  FillAll(attention);
  const auto one = [](const Tensor& x) { return x.select(1, 0); };
  const auto [output, weights] =
      attention(one(query_), one(key_), one(value_), {.attn_mask = Sines({2, 3}, 8)});
  ExpectValues(output,
               {0.290898260678463, 2.32366216044427, 0.97185107421531, 2.010520124273134,
                0.16943316958275, 1.947959301180964, -0.187920786320563, 1.751907899966977});
  ExpectValues(weights, {0.441894837622833, 0.473398081310246, 0.084707081066921, 0.166908141950787,
                         0.125974115201106, 0.707117742848108});
}

TEST_F(Attention, NamesItsPartsAsTorchDoes) {
  using ::testing::Key;
  nn::MultiheadAttention attention(8, 2), bare(8, 2, {.bias = false});
  EXPECT_THAT(attention.state_dict(),
              ::testing::ElementsAre(Key("in_proj_bias"), Key("in_proj_weight"),
                                     Key("out_proj.bias"), Key("out_proj.weight")));
  EXPECT_THAT(bare.state_dict(),
              ::testing::ElementsAre(Key("in_proj_weight"), Key("out_proj.weight")));
  const auto result = bare(ones({3, 1, 8}), ones({5, 1, 8}), ones({5, 1, 8}));
  EXPECT_EQ(result.first.sizes(), (Dims{3, 1, 8}));
  EXPECT_EQ(result.second.sizes(), (Dims{1, 3, 5}));
}

TEST_F(Attention, RefusesWhatDoesNotFit) {
  EXPECT_THAT(MessageOf([&] { nn::MultiheadAttention(4, 3); }), HasSubstr("3 equal heads"));
  nn::MultiheadAttention attention(4, 2);
  FillAll(attention);
  EXPECT_THAT(MessageOf([&] { attention(query_, key_, query_); }),
              HasSubstr("query [2, 3, 4], key [3, 3, 4] and value [2, 3, 4] must be of width 4"));
  EXPECT_THAT(MessageOf([&] {
                attention(query_, key_, value_, {.attn_mask = ones({3, 2})});
              }),
              HasSubstr("attn_mask has sizes [3, 2], but [2, 3] or [6, 2, 3] are needed"));
  EXPECT_THAT(MessageOf([&] {
                attention(query_, key_, value_, {.key_padding_mask = ones({2, 3})});
              }),
              HasSubstr("key_padding_mask has sizes [2, 3], but [3, 3] are needed"));
}

TEST(Activations, EqualTorch) {
  const Tensor x = Tensor::FromHost(std::span<const double>(std::vector<double>{-1, 0.5, 2}), {3});
  ExpectValues(nn::SiLU()(x), {-0.2689414213699951, 0.3112296656009273, 1.7615941559557646});
  ExpectValues(nn::ReLU()(x), {0, 0.5, 2});
  EXPECT_EQ(Values(nn::GELU("tanh")(x)), Values(gelu(x, "tanh")));
}

}  // namespace
}  // namespace xlaprof::lazy
