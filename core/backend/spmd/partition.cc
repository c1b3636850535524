#include "core/backend/spmd/partition.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>

#include "core/backend/spmd/batch_norm.h"
#include "core/backend/spmd/divide.h"
#include "core/ir/error.h"

namespace xlaprof::lazy {
namespace {

class Partitioner {
 public:
  Partitioner(const Program& program, DividedProgram divided, int64_t devices)
      : program_(program), devices_(devices), divided_(std::move(divided)) {
    out_.program.name = program.name;
    out_.program.hash = program.hash;
    out_.program.donations = program.donations;
  }

  PartitionedProgram Run() {
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      origin_ = &program_.instructions[i];
      values_.push_back(Make(i));
    }
    for (int32_t parameter : program_.parameters) {
      const Instruction& it = program_.instructions[size_t(parameter)];
      out_.program.parameters.push_back(leaves_.at(parameter));
      out_.parameter_shardings.push_back(Sharding::Of(it.attributes).Simplified().ToAttributes());
    }
    for (size_t i = 0; i < program_.results.size(); ++i) {
      const int32_t result = program_.results[i];
      const Sharding& sharding = divided_.results[i];
      origin_ = &program_.instructions[size_t(result)];
      out_.program.results.push_back(Result(result, sharding));
      out_.result_shardings.push_back(sharding.Simplified().ToAttributes());
    }
    return std::move(out_);
  }

 private:
  // A value of the whole program: its instruction in the new one, and how that is divided.
  struct Value {
    int32_t at;
    Division division;
  };

  Value Make(size_t i) {
    const Instruction& it = *origin_;
    const DividedInstruction& divided = divided_.instructions[i];
    if (it.op == &op::device_data) return Parameter(int32_t(i), divided);
    if (it.op == &op::mark_sharding) return {In(it.operands[0], divided.result), divided.result};
    return {Compute(it, divided), divided.result};
  }

  Value Parameter(int32_t i, const DividedInstruction& divided) {
    const Sharding own = Sharding::Of(origin_->attributes);
    Instruction parameter = *origin_;
    parameter.attributes.clear();
    parameter.shape = own.PartOf(parameter.shape);
    const int32_t at = out_.program.Append(std::move(parameter));
    leaves_[i] = at;
    if (own.is_whole() || own.grid == divided_.grid) return {at, divided.result};
    return {Resharded(at, own.grid, own.axes, divided.result), divided.result};
  }

  int32_t Compute(const Instruction& it, const DividedInstruction& divided) {
    const Dims combined = divided.Combined();
    if (!combined.empty()) return Contribution(it, divided, combined);
    std::vector<int32_t> operands;
    for (size_t k = 0; k < it.operands.size(); ++k)
      operands.push_back(In(it.operands[k], divided.OperandDivision(k)));
    return Add(*it.op, operands, AttributesOf(it, divided));
  }

  // Computes the contribution of each device to a result, and combines them. Contributions of 16
  // bits would be rounded, so that they are made in f32.
  int32_t Contribution(const Instruction& it, const DividedInstruction& divided,
                       const Dims& combined) {
    const DType type = it.shape.dtype;
    const bool is_narrow = type == DType::kBF16 || type == DType::kF16;
    const auto cast = [&](int32_t value, DType from, DType to) {
      if (!is_narrow || shape(value).dtype != from) return value;
      return Add(op::cast, {value}, {int64_t(to)});
    };
    const int added = divided.rule.added;
    std::vector<int32_t> operands;
    for (size_t k = 0; k < it.operands.size(); ++k) {
      const Division division = divided.OperandDivision(k);
      const int32_t operand =
          int(k) == added ? Zeros(it.operands[k], division) : In(it.operands[k], division);
      operands.push_back(cast(operand, type, DType::kF32));
    }
    int32_t result = Combine(Add(*it.op, operands, AttributesOf(it, divided)), divided, combined);
    if (added >= 0 && !IsZero(it.operands[size_t(added)])) {
      const int32_t once = In(it.operands[size_t(added)], divided.result);
      result = Add(op::add, {cast(once, type, DType::kF32), result}, {});
    }
    return cast(result, DType::kF32, type);
  }

  // Returns the attributes of a device's instruction. Those that are sizes differ.
  Attributes AttributesOf(const Instruction& it, const DividedInstruction& divided) const {
    if (it.op != &op::expand && it.op != &op::view && it.op != &op::slice) return it.attributes;
    const Dims sizes = Sharding{divided_.grid, divided.result}.PartOf(it.shape).dims;
    if (it.op != &op::slice) return {sizes.begin(), sizes.end()};
    Attributes slice = it.attributes;
    const size_t dim = size_t(slice[0]);
    if (!divided.result[dim].empty()) slice[2] = sizes[dim];  // it takes the whole dimension
    return slice;
  }

  // Combines the contributions of the devices that differ along these axes.
  int32_t Combine(int32_t value, const DividedInstruction& divided, const Dims& axes) {
    const Grid& grid = divided_.grid;
    ReduceOp kind = ReduceOp::kSum;
    for (size_t f = 0; f < divided.factors.size(); ++f)
      if (divided.rule.factors[f]) kind = *divided.rule.factors[f];
    if (divided.scattered >= 0)
      return Add(op::reduce_scatter, {value},
                 WithGroups({int64_t(kind), divided.scattered}, grid, axes));
    // Collectives combine numbers. The largest of booleans is their disjunction.
    const bool is_truth = shape(value).dtype == DType::kBool;
    if (is_truth) value = Add(op::cast, {value}, {int64_t(DType::kU8)});
    value = Add(op::all_reduce, {value}, WithGroups({int64_t(kind)}, grid, axes));
    return is_truth ? Add(op::cast, {value}, {int64_t(DType::kBool)}) : value;
  }

  // Returns whether all elements of a value are the constant 0.
  bool IsZero(int32_t value) const {
    const Instruction* it = &program_.instructions[size_t(value)];
    while (it->op == &op::expand || it->op == &op::view)
      it = &program_.instructions[size_t(it->operands[0])];
    return it->op == &op::constant && it->attributes[0] == 0;
  }

  int32_t Zeros(int32_t like, const Division& division) {
    const Shape whole = program_.instructions[size_t(like)].shape;
    const Dims sizes = Sharding{divided_.grid, division}.PartOf(whole).dims;
    const int32_t zero = Add(op::constant, {}, {0, int64_t(whole.dtype)});
    return Add(op::expand, {zero}, {sizes.begin(), sizes.end()});
  }

  int32_t Result(int32_t value, const Sharding& sharding) {
    const Instruction& it = program_.instructions[size_t(value)];
    const bool is_along = sharding.grid == divided_.grid || sharding.is_whole();
    if (is_along) return In(value, sharding.axes.empty() ? Whole(value) : sharding.axes);
    // A parameter that keeps its sharding is its own result.
    if (it.op == &op::device_data && Sharding::Of(it.attributes) == sharding)
      return leaves_.at(value);
    return Resharded(In(value, Whole(value)), sharding.grid, Whole(value), sharding.axes);
  }

  Division Whole(int32_t value) const {
    return Division(program_.instructions[size_t(value)].shape.dims.size());
  }

  // Returns a value of the whole program, divided as wanted.
  int32_t In(int32_t value, const Division& wanted) {
    const Value& known = values_[size_t(value)];
    if (known.division == wanted) return known.at;
    const auto [found, is_new] = resharded_.try_emplace({known.at, wanted});
    if (is_new) {
      const int32_t made = Resharded(known.at, divided_.grid, known.division, wanted);
      return resharded_[{known.at, wanted}] = made;
    }
    return found->second;
  }

  // Changes how a value is divided. Taking a part is free, so it comes first where that is
  // possible. Other axes are gathered, the innermost together, before another dimension uses them.
  int32_t Resharded(int32_t value, const Grid& grid, Division from, const Division& to) {
    const auto is_used = [&](int64_t axis) {
      return std::ranges::any_of(
          from, [&](const Dims& axes) { return std::ranges::find(axes, axis) != axes.end(); });
    };
    const auto take_parts = [&] {
      for (size_t d = 0; d < to.size(); ++d) {
        const size_t common = Common(from[d], to[d]);
        if (common < from[d].size()) continue;
        Dims more(to[d].begin() + int64_t(common), to[d].end());
        while (!more.empty() && std::ranges::any_of(more, is_used)) more.pop_back();
        if (more.empty()) continue;
        value = Add(op::local_part, {value}, WithGroups({int64_t(d)}, grid, more));
        from[d].insert(from[d].end(), more.begin(), more.end());
      }
    };
    take_parts();
    for (size_t d = 0; d < to.size(); ++d) {
      const size_t common = Common(from[d], to[d]);
      const Dims fewer(from[d].begin() + int64_t(common), from[d].end());
      if (fewer.empty()) continue;
      value = Add(op::all_gather, {value}, WithGroups({int64_t(d)}, grid, fewer));
      from[d].resize(common);
    }
    take_parts();
    return value;
  }

  static size_t Common(const Dims& a, const Dims& b) {
    return size_t(std::ranges::mismatch(a, b).in1 - a.begin());
  }

  // Appends what says which devices take part: those that differ along these axes.
  Attributes WithGroups(Attributes attributes, const Grid& grid, const Dims& axes) const {
    const Dims groups = grid.Groups(axes);
    attributes.push_back(devices_);
    attributes.push_back(grid.Count(axes));
    const bool are_all = grid.Count(axes) == devices_ && std::ranges::is_sorted(groups);
    if (!are_all) attributes.insert(attributes.end(), groups.begin(), groups.end());
    return attributes;
  }

  const Shape& shape(int32_t at) const { return out_.program.instructions[size_t(at)].shape; }

  int32_t Add(const Op& op, std::initializer_list<int32_t> operands, Attributes attributes) {
    return Add(op, std::vector(operands), std::move(attributes));
  }
  int32_t Add(const Op& op, const std::vector<int32_t>& operands, Attributes attributes) {
    return out_.program.Append(op, operands, std::move(attributes), *origin_);
  }

  const Program& program_;
  const int64_t devices_;
  const DividedProgram divided_;
  PartitionedProgram out_;
  const Instruction* origin_ = nullptr;  // for which instructions are added now
  std::vector<Value> values_;
  absl::flat_hash_map<int32_t, int32_t> leaves_;  // parameters in the new program
  absl::flat_hash_map<std::pair<int32_t, Division>, int32_t> resharded_;
};

// Returns an error if the program cannot be divided among so many devices.
absl::Status Check(const Program& program, int64_t devices) {
  for (const Instruction& it : program.instructions) {
    if (it.op == &op::all_reduce || it.op == &op::all_gather || it.op == &op::reduce_scatter ||
        it.op == &op::collective_broadcast || it.op == &op::local_part)
      return Unsupported(
          "{} of {}: on this device, all devices are one, and sharding makes the exchanges among "
          "them. Use launch() and run_ranks() without use_spmd()",
          it.op->name, program.OperandShapes(it)[0]->ToText());
    if (it.op != &op::device_data && it.op != &op::mark_sharding) continue;
    const Sharding sharding = Sharding::Of(it.attributes);
    if (!sharding.grid.empty() && int64_t(sharding.grid.devices.size()) != devices)
      return Invalid("{}: it is sharded among {} devices, but there are {}", it.shape.ToText(),
                     sharding.grid.devices.size(), devices);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PartitionedProgram> PartitionProgram(const Program& program, int64_t devices) {
  try {
    XP_TRY(Check(program, devices));
    DividedProgram divided = DivideProgram(program);
    if (!HasDividedBatchNorm(program, divided))
      return Partitioner(program, std::move(divided), devices).Run();
    const Program expanded = WithoutDividedBatchNorm(program, divided);
    return Partitioner(expanded, DivideProgram(expanded), devices).Run();
  } catch (const Error& error) {
    return Invalid("{}: it cannot be partitioned: {}", program.name, error.what());
  }
}

}  // namespace xlaprof::lazy
