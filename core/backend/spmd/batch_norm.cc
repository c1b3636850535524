#include "core/backend/spmd/batch_norm.h"

#include <algorithm>
#include <map>

namespace xlaprof::lazy {
namespace {

bool IsTraining(const Instruction& it) { return it.op == &op::native_batch_norm; }
bool IsGradient(const Instruction& it) { return it.op == &op::native_batch_norm_backward; }

bool IsDividedBatchNorm(const Instruction& it, const DividedProgram& divided) {
  if (!IsTraining(it) && !IsGradient(it)) return false;
  const int32_t x = it.operands[IsTraining(it) ? 0 : 1];
  const Division& division = divided.instructions[size_t(x)].result;
  for (size_t d = 0; d < division.size(); ++d)
    if (d != 1 && !division[d].empty()) return true;
  return false;
}

// The instructions that were added, by what they compute.
using Added = std::map<std::tuple<const Op*, std::vector<int32_t>, std::vector<int64_t>>, int32_t>;

// Adds the operations in place of one output of a batch norm. Outputs share what they have in
// common.
class Expansion {
 public:
  // `operands` are those of `origin` in `program`.
  Expansion(Program& program, Added& added, const Instruction& origin,
            const std::vector<int32_t>& operands)
      : program_(program), added_(added), origin_(origin), type_(Wide(origin.shape.dtype)) {
    for (int32_t operand : operands) {
      given_.push_back(program.instructions[size_t(operand)].shape.dtype == type_
                           ? operand
                           : Add(op::cast, {operand}, {int64_t(type_)}));
    }
  }

  int32_t Output() {
    const int32_t made = IsTraining(origin_) ? Train() : Backward();
    if (type_ == origin_.shape.dtype) return made;
    return Add(op::cast, {made}, {int64_t(origin_.shape.dtype)});
  }

 private:
  using Operands = std::vector<int32_t>;

  // Statistics of 16-bit floats are made in f32.
  static DType Wide(DType type) { return ByteSize(type) == 2 ? DType::kF32 : type; }

  int32_t Train() {
    images_ = program_.instructions[size_t(given_[0])].shape;
    const int32_t mean = Mean(given_[0]);
    const int32_t centered = Add(op::sub, {given_[0], Spread(mean)});
    const int32_t variance = Mean(Add(op::mul, {centered, centered}));
    if (origin_.attributes[1] == 1) return mean;
    if (origin_.attributes[1] == 2) return variance;
    const int32_t factor = Add(op::mul, {given_[1], Scale(variance)});
    return Add(op::add, {Add(op::mul, {centered, Spread(factor)}), Spread(given_[2])});
  }

  int32_t Backward() {
    images_ = program_.instructions[size_t(given_[1])].shape;
    const int32_t gradient = given_[0], scale = Scale(given_[4]);
    const int32_t normal =
        Add(op::mul, {Add(op::sub, {given_[1], Spread(given_[3])}), Spread(scale)});
    const Operands product{gradient, normal};
    const int32_t of_weight = Sum(Add(op::mul, product)), of_bias = Sum(gradient);
    if (origin_.attributes[1] == 1) return of_weight;
    if (origin_.attributes[1] == 2) return of_bias;
    const int32_t part = Add(op::mul, {normal, Spread(Average(of_weight))});
    const int32_t rest = Add(op::sub, {Add(op::sub, {gradient, part}), Spread(Average(of_bias))});
    return Add(op::mul, {rest, Spread(Add(op::mul, {given_[2], scale}))});
  }

  int32_t Sum(int32_t images) {
    Attributes over{0};
    for (int64_t d = 0; d < images_.rank(); ++d)
      if (d != 1) over.push_back(d);
    return Add(op::sum, {images}, over);
  }
  // Divides sums of the channels by the number of a channel's elements.
  int32_t Average(int32_t sums) {
    return Add(op::div, {sums, Number(double(images_.elements() / images_.dims[1]))});
  }
  int32_t Mean(int32_t images) { return Average(Sum(images)); }
  int32_t Scale(int32_t variance) {
    return Add(op::rsqrt, {Add(op::add, {variance, Number(RealOf(origin_.attributes[0]))})});
  }
  // Returns a number for each channel.
  int32_t Number(double number) {
    const int32_t one = Add(op::constant, {}, {AttributeOf(number), int64_t(type_)});
    return Add(op::expand, {one}, {images_.dims[1]});
  }
  // Repeats numbers of the channels for all elements of the images.
  int32_t Spread(int32_t channels) {
    Attributes sides(images_.dims.size(), 1);
    sides[1] = images_.dims[1];
    const int32_t beside = Add(op::view, {channels}, sides);
    return Add(op::expand, {beside}, {images_.dims.begin(), images_.dims.end()});
  }

  int32_t Add(const Op& op, const Operands& operands, const Attributes& attributes = {}) {
    const auto [known, is_new] = added_.try_emplace(
        {&op, operands, {attributes.begin(), attributes.end()}}, program_.instructions.size());
    if (!is_new) return known->second;
    program_.Append(op, operands, attributes, origin_);
    return known->second;
  }

  Program& program_;
  Added& added_;
  const Instruction& origin_;
  const DType type_;
  Operands given_;
  Shape images_;
};

}  // namespace

bool HasDividedBatchNorm(const Program& program, const DividedProgram& divided) {
  return std::ranges::any_of(program.instructions, [&](const Instruction& it) {
    return IsDividedBatchNorm(it, divided);
  });
}

Program WithoutDividedBatchNorm(const Program& program, const DividedProgram& divided) {
  Program made = program;
  made.instructions.clear();
  Added added;
  std::vector<int32_t> places;  // of the old instructions
  for (const Instruction& it : program.instructions) {
    std::vector<int32_t> operands;
    for (int32_t operand : it.operands) operands.push_back(places[size_t(operand)]);
    if (IsDividedBatchNorm(it, divided)) {
      places.push_back(Expansion(made, added, it, operands).Output());
      continue;
    }
    places.push_back(int32_t(made.instructions.size()));
    Instruction copy = it;
    copy.operands.assign(operands.begin(), operands.end());
    made.instructions.push_back(std::move(copy));
  }
  for (int32_t& parameter : made.parameters) parameter = places[size_t(parameter)];
  for (int32_t& result : made.results) result = places[size_t(result)];
  return made;
}

}  // namespace xlaprof::lazy
