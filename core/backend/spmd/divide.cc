#include "core/backend/spmd/divide.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <numeric>

namespace xlaprof::lazy {
namespace {

// Returns the sharding that an instruction has by itself, or an empty one.
Sharding OwnSharding(const Instruction& instruction) {
  const bool has_one = instruction.op == &op::device_data || instruction.op == &op::mark_sharding;
  return has_one ? Sharding::Of(instruction.attributes) : Sharding();
}

class Propagation {
 public:
  explicit Propagation(const Program& program)
      : program_(program),
        wishes_(program.instructions.size()),
        uses_(program.instructions.size()) {
    divided_.instructions.resize(program.instructions.size());
    for (size_t i = 0; i < program.instructions.size(); ++i) {
      const Instruction& it = instruction(i);
      if (divided_.grid.empty()) divided_.grid = OwnSharding(it).grid;
      divided(i).rule = RuleOf(program, it);
      divided(i).factors.resize(divided(i).rule.factors.size());
      divided(i).result.resize(it.shape.dims.size());
      wishes_[i].resize(it.shape.dims.size());
      for (size_t k = 0; k < it.operands.size(); ++k)
        uses_[size_t(it.operands[k])].push_back({i, k});
    }
    FindResults();
  }

  DividedProgram Run() {
    if (!divided_.grid.empty()) {
      Forward();
      // A value that is only used in parts need not be computed whole. That changes what follows.
      for (int i = 0; i < 2; ++i) Backward(), Forward();
    }
    for (size_t i = 0; i < program_.results.size(); ++i) {
      const size_t result = size_t(program_.results[i]);
      divided_.results.push_back(
          fixed_[i] ? *fixed_[i] : Sharding{divided_.grid, divided(result).result});
    }
    return std::move(divided_);
  }

 private:
  const Instruction& instruction(size_t i) const { return program_.instructions[i]; }
  DividedInstruction& divided(size_t i) { return divided_.instructions[i]; }

  // A result that takes the memory of a parameter is divided as that is. What the user marked is
  // divided so.
  void FindResults() {
    fixed_.resize(program_.results.size());
    for (size_t i = 0; i < program_.results.size(); ++i) {
      const Instruction& it = instruction(size_t(program_.results[i]));
      if (it.op == &op::mark_sharding || it.op == &op::device_data) fixed_[i] = OwnSharding(it);
    }
    for (const Program::Donation& donation : program_.donations)
      fixed_[size_t(donation.result)] =
          OwnSharding(instruction(size_t(program_.parameters[size_t(donation.parameter)])));
    for (size_t i = 0; i < program_.results.size(); ++i) {
      if (fixed_[i]) results_of_[size_t(program_.results[i])].push_back(&*fixed_[i]);
    }
  }

  // Returns a sharding as a division along the program's grid, or an undivided one.
  Division Along(const Sharding& sharding, size_t rank) const {
    const bool is_along = sharding.grid == divided_.grid && !sharding.axes.empty();
    return is_along ? sharding.axes : Division(rank);
  }

  // Returns whether each dimension that belongs to the factor has `parts` equal parts.
  bool IsDivisible(size_t i, int factor, int64_t parts) const {
    const DivisionRule& rule = divided_.instructions[i].rule;
    const auto fits = [&](const DivisionRule::Factors& factors, const Dims& dims) {
      for (size_t d = 0; d < dims.size(); ++d)
        if (factors[d] == factor && (dims[d] == 0 || dims[d] % parts != 0)) return false;
      return true;
    };
    const Instruction& it = instruction(i);
    for (size_t k = 0; k < it.operands.size(); ++k)
      if (!fits(rule.operands[k], instruction(size_t(it.operands[k])).shape.dims)) return false;
    return fits(rule.result, it.shape.dims);
  }

  // Divides a factor along these axes, or the first of them, unless it is divided or the axes
  // already divide another factor.
  void Claim(size_t i, int factor, Dims axes) {
    DividedInstruction& it = divided(i);
    if (factor < 0 || !it.factors[size_t(factor)].empty()) return;
    const auto is_used = [&](int64_t axis) {
      return std::ranges::any_of(it.factors, [&](const Dims& of_factor) {
        return std::ranges::find(of_factor, axis) != of_factor.end();
      });
    };
    for (; !axes.empty(); axes.pop_back()) {
      if (std::ranges::any_of(axes, is_used)) continue;
      if (!IsDivisible(i, factor, divided_.grid.Count(axes))) continue;
      it.factors[size_t(factor)] = std::move(axes);
      return;
    }
  }

  // Divides an instruction as its operands are divided, of which the largest comes first because it
  // costs most to exchange. Then as its users wish, if that is free. An operand that is repeated
  // costs less than its repetitions, so that the wish comes first.
  void Assign(size_t i) {
    const Instruction& it = instruction(i);
    DividedInstruction& to = divided(i);
    const size_t rank = it.shape.dims.size();
    if (it.op == &op::device_data || it.op == &op::mark_sharding) {
      to.result = Along(OwnSharding(it), rank);
      return;
    }
    to.factors.assign(to.rule.factors.size(), {});
    absl::InlinedVector<size_t, 3> order(it.operands.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto grant_wishes = [&] {
      for (size_t d = 0; d < rank; ++d) Claim(i, to.rule.result[d], wishes_[i][d]);
    };
    if (it.op == &op::expand) grant_wishes();
    std::ranges::stable_sort(order, std::greater(), [&](size_t k) {
      const size_t operand = size_t(it.operands[k]);
      return Sharding{divided_.grid, divided(operand).result}
          .PartOf(instruction(operand).shape)
          .bytes();
    });
    for (size_t k : order) {
      const Division& division = divided(size_t(it.operands[k])).result;
      for (size_t d = 0; d < division.size(); ++d)
        Claim(i, to.rule.operands[k][d], division[d]);
    }
    grant_wishes();
    for (size_t d = 0; d < rank; ++d)
      to.result[d] = to.rule.result[d] < 0 ? Dims() : to.factors[size_t(to.rule.result[d])];
    Scatter(i);
  }

  // Divides a dimension of a sum along the axes that are summed over, if the users wish that.
  void Scatter(size_t i) {
    DividedInstruction& to = divided(i);
    to.scattered = -1;
    const Dims combined = to.Combined();
    const Shape& shape = instruction(i).shape;
    if (combined.empty() || shape.dtype == DType::kBool) return;
    for (size_t d = 0; d < to.result.size(); ++d) {
      if (!to.result[d].empty() || wishes_[i][d] != combined) continue;
      if (shape.dims[d] == 0 || shape.dims[d] % divided_.grid.Count(combined) != 0) continue;
      to.scattered = int(d);
      to.result[d] = combined;
      return;
    }
  }

  void Forward() {
    for (size_t i = 0; i < program_.instructions.size(); ++i) Assign(i);
  }

  // Returns the axes along which all users of a value divide dimension `d`, or none.
  Dims WishOf(size_t i, size_t d) {
    std::optional<Dims> wish;
    const auto join = [&](const Dims& axes) {
      if (!wish) wish = axes;
      if (*wish != axes) wish = Dims();
    };
    for (const Use& use : uses_[i]) {
      const DividedInstruction& user = divided(use.user);
      if (instruction(use.user).op == &op::mark_sharding)
        join(user.result[d]);
      else
        join(user.OperandDivision(use.operand)[d]);
    }
    if (const auto found = results_of_.find(i); found != results_of_.end()) {
      for (const Sharding* sharding : found->second)
        join(Along(*sharding, instruction(i).shape.dims.size())[d]);
    }
    return wish.value_or(Dims());
  }

  void Backward() {
    for (size_t i = program_.instructions.size(); i-- > 0;) {
      for (size_t d = 0; d < wishes_[i].size(); ++d) wishes_[i][d] = WishOf(i, d);
      Assign(i);
    }
  }

  struct Use {
    size_t user, operand;
  };

  const Program& program_;
  DividedProgram divided_;
  std::vector<Division> wishes_;
  std::vector<absl::InlinedVector<Use, 2>> uses_;
  std::vector<std::optional<Sharding>> fixed_;  // of the results
  absl::flat_hash_map<size_t, std::vector<const Sharding*>> results_of_;
};

}  // namespace

Division DividedInstruction::OperandDivision(size_t operand) const {
  Division division;
  for (int factor : rule.operands[operand])
    division.push_back(factor < 0 ? Dims() : factors[size_t(factor)]);
  return division;
}

Dims DividedInstruction::Combined() const {
  Dims axes;
  for (size_t f = 0; f < factors.size(); ++f)
    if (rule.factors[f]) axes.insert(axes.end(), factors[f].begin(), factors[f].end());
  return axes;
}

DividedProgram DivideProgram(const Program& program) { return Propagation(program).Run(); }

}  // namespace xlaprof::lazy
