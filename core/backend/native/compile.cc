// Compiles a program into kernels: chooses the kernels, their order, and the places of their
// tensors.
#include <absl/container/flat_hash_map.h>

#include <algorithm>

#include "core/backend/native/executable.h"
#include "core/backend/native/fusion.h"
#include "core/backend/native/graph.h"

namespace xlaprof::lazy {
namespace {

using Maker = ThunkOr (*)(const Task&);

Maker MakerOf(const Op* op) {
  static const absl::flat_hash_map<const Op*, Maker> makers = {
      {&op::expand, MakeMovement},
      {&op::permute, MakeMovement},
      {&op::slice, MakeMovement},
      {&op::slice_scatter, MakeMovement},
      {&op::cat, MakeMovement},
      {&op::pad, MakeMovement},
      {&op::flip, MakeMovement},
      {&op::mm, MakeProduct},
      {&op::bmm, MakeProduct},
      {&op::convolution, MakeConvolution},
      {&op::convolution_backward_input, MakeConvolution},
      {&op::convolution_backward_weight, MakeConvolution},
      {&op::sum, MakeReduction},
      {&op::amax, MakeReduction},
      {&op::amin, MakeReduction},
      {&op::prod, MakeReduction},
      {&op::argmax, MakeArgMax},
      {&op::cumsum, MakeCumSum},
      {&op::index_select, MakeIndexing},
      {&op::gather, MakeIndexing},
      {&op::scatter, MakeIndexing},
      {&op::scatter_add, MakeIndexing},
      {&op::index_copy, MakeIndexing},
      {&op::index_add, MakeIndexing},
      {&op::arange, MakeArange},
      {&op::max_pool2d, MakePooling},
      {&op::max_pool2d_backward, MakePooling},
      {&op::avg_pool2d, MakePooling},
      {&op::avg_pool2d_backward, MakePooling},
      {&op::native_batch_norm, MakeBatchNorm},
      {&op::native_batch_norm_backward, MakeBatchNorm},
      {&op::batch_norm_inference, MakeBatchNorm},
      {&op::uniform, MakeUniform},
      {&op::all_reduce, MakeCollective},
      {&op::all_gather, MakeCollective},
      {&op::reduce_scatter, MakeCollective},
      {&op::collective_broadcast, MakeCollective},
      {&op::local_part, MakeCollective},
  };
  auto found = makers.find(op);
  return found == makers.end() ? nullptr : found->second;
}

}  // namespace

std::string Describe(const Task& task) {
  std::string text(task.instruction.op->name);
  for (size_t i = 0; i < task.operands.size(); ++i)
    text += (i == 0 ? " of " : ", ") + task.operands[i].shape.ToText();
  return text + " to " + task.result.shape.ToText();
}

class Compiler {
 public:
  Compiler(const Program& program, Ref<DeviceMemory> memory, std::shared_ptr<ThreadPool> pool)
      : program_(program), graph_(program), slots_(program.instructions.size(), -1) {
    plan_.name = program.name;
    made_.memory_ = std::move(memory);
    made_.pool_ = std::move(pool);
  }

  absl::StatusOr<std::unique_ptr<Executable>> Compile() {
    for (const Unit& unit : graph_.units()) {
      if (IsEmpty(unit)) continue;
      for (int32_t input : unit.inputs) SlotOf(input);
      for (int32_t output : unit.outputs) SlotOf(output);
      XP_TRY(std::unique_ptr<Thunk> thunk,
             unit.fused ? MakeFusion(program_, graph_, unit, slots_, *made_.pool_) : Single(unit));
      made_.thunks_.push_back(std::move(thunk));
      plan_.kernels.push_back(KernelOf(unit));
      units_.push_back(&unit);
    }
    Parameters();
    Results();
    FindUses();
    Donate();
    Temporaries();
    Measure();
    made_.plan_ = std::make_shared<const NativeExecutable::Plan>(std::move(plan_));
    return std::make_unique<NativeExecutable>(std::move(made_));
  }

 private:
  const Instruction& instruction(int32_t i) const { return program_.instructions[size_t(i)]; }
  const Shape& shape(int32_t i) const { return instruction(i).shape; }
  int32_t SlotOf(int32_t value) {
    int32_t& slot = slots_[size_t(value)];
    if (slot < 0) slot = next_slot_++;
    return slot;
  }

  bool IsEmpty(const Unit& unit) const {
    for (int32_t output : unit.outputs)
      if (shape(output).elements() > 0) return false;
    return true;
  }

  ThunkOr Single(const Unit& unit) {
    const int32_t i = unit.members[0];
    const Instruction& it = instruction(i);
    const Maker make = MakerOf(it.op);
    Task task{.instruction = it, .pool = *made_.pool_, .index = i};
    if (make == MakeCollective) {
      if (made_.meetings_ == nullptr) made_.meetings_ = std::make_unique<Meetings>();
      task.meetings = made_.meetings_.get();
    }
    task.others.resize(size_t(it.op->outputs - 1));
    for (int32_t member : unit.members) {
      const size_t output = it.op->outputs > 1 ? size_t(instruction(member).attributes.back()) : 0;
      TensorSlot& place = output == 0 ? task.result : task.others[output - 1];
      place = {SlotOf(member), shape(member)};
    }
    const bool product = it.op == &op::mm || it.op == &op::bmm;
    for (size_t k = 0; k < it.operands.size(); ++k) {
      const Graph::Source source = product ? graph_.SourceOf(it.operands[k], false)
                                           : Graph::Source{graph_.root(it.operands[k])};
      if (source.view >= 0) task.transposed[k] = true;
      // The operation's operand may be a view of the value, so its own sizes count.
      Shape sizes = shape(it.operands[k]);
      if (source.view >= 0) std::swap(sizes.dims.end()[-1], sizes.dims.end()[-2]);
      task.operands.push_back({SlotOf(source.value), sizes});
    }
    if (make == nullptr)
      return Unsupported("{}: the native backend does not have this operation", Describe(task));
    return make(task);
  }

  Kernel KernelOf(const Unit& unit) const {
    const Instruction& last = instruction(unit.fused ? unit.members.back() : unit.members[0]);
    Kernel kernel{.name = std::string(last.op->name),
                  .shape = last.shape.ToText(),
                  .location = last.location,
                  .scope = last.scope};
    if (unit.fused && unit.members.size() > 1)
      kernel.name = fmt::format("fused {}..{}", instruction(unit.members[0]).op->short_name(),
                                last.op->short_name());
    for (int32_t member : unit.members) {
      const Instruction& it = instruction(member);
      if (unit.fused && !kernel.op_names.empty()) kernel.op_names += ' ';
      if (unit.fused || kernel.op_names.empty()) kernel.op_names += it.op->name;
      if (it.op->flops == nullptr)
        kernel.flops += double(it.shape.elements());
      else
        kernel.flops += it.op->flops(program_.OperandShapes(it), it.shape, it.attributes);
    }
    if (unit.fused) {
      for (int32_t input : unit.inputs) kernel.AddOperand(shape(input));
    } else {
      for (const Shape* operand : program_.OperandShapes(last)) kernel.AddOperand(*operand);
    }
    for (int32_t input : unit.inputs) kernel.bytes += shape(input).bytes();
    for (int32_t output : unit.outputs) kernel.bytes += shape(output).bytes();
    return kernel;
  }

  void Parameters() {
    for (int32_t parameter : program_.parameters)
      plan_.parameters.push_back({slots_[size_t(parameter)], shape(parameter)});
  }

  void Results() {
    absl::flat_hash_map<int32_t, int32_t> arguments, known;
    for (size_t p = 0; p < program_.parameters.size(); ++p)
      arguments.insert({program_.parameters[p], int32_t(p)});
    for (int32_t result : program_.results) {
      const int32_t value = graph_.root(result);
      NativeExecutable::Result it{.shape = shape(result)};
      if (auto argument = arguments.find(value); argument != arguments.end()) {
        it.parameter = argument->second;
        it.is_view = shape(value) != it.shape;
        passed_.push_back(value);
      } else {
        auto [made, added] = known.insert({value, int32_t(plan_.made.size())});
        // The first result gets the buffer, unless memory is donated to another one.
        if (added) {
          plan_.made.push_back({SlotOf(value), -1, it.shape});
          made_values_.push_back(value);
        }
        it.made = made->second;
      }
      plan_.results.push_back(it);
    }
  }

  // Finds when each value is written, and when it is read for the last time.
  void FindUses() {
    last_read_.assign(slots_.size(), -1);
    written_.assign(slots_.size(), -1);
    for (size_t u = 0; u < units_.size(); ++u) {
      for (int32_t input : units_[u]->inputs) last_read_[size_t(input)] = int32_t(u);
      for (int32_t output : units_[u]->outputs) written_[size_t(output)] = int32_t(u);
    }
  }

  void Donate() {
    for (const Program::Donation& donation : program_.donations) {
      const int32_t parameter = program_.parameters[size_t(donation.parameter)];
      const int32_t made = plan_.results[size_t(donation.result)].made;
      if (made < 0) continue;
      const int32_t value = made_values_[size_t(made)];
      NativeExecutable::Made& to = plan_.made[size_t(made)];
      const int32_t at = written_[size_t(value)], read = last_read_[size_t(parameter)];
      const bool passed = std::find(passed_.begin(), passed_.end(), parameter) != passed_.end();
      if (passed || to.donor >= 0 || at < 0 || read > at) continue;
      const int32_t from_slot = slots_[size_t(parameter)];
      if (read == at) {
        Thunk& thunk = *made_.thunks_[size_t(at)];
        if (!thunk.MayReuse(from_slot, to.slot)) continue;
        thunk.Reuse(from_slot, to.slot);
      }
      to.donor = donation.parameter;
      to.shape = shape(parameter);
      plan_.sizes.alias_bytes += to.shape.bytes();
    }
    for (NativeExecutable::Result& result : plan_.results)
      if (result.made >= 0) result.is_view = plan_.made[size_t(result.made)].shape != result.shape;
  }

  void Temporaries() {
    std::vector<Temporary> temporaries;
    for (size_t u = 0; u < units_.size(); ++u) {
      for (int32_t output : units_[u]->outputs) {
        const int32_t slot = slots_[size_t(output)];
        const bool kept =
            std::find(made_values_.begin(), made_values_.end(), output) != made_values_.end();
        if (!kept)
          temporaries.push_back({slot, shape(output).bytes(), int32_t(u),
                                 std::max(int32_t(u), last_read_[size_t(output)])});
      }
      if (const int64_t bytes = made_.thunks_[u]->scratch_bytes(); bytes > 0) {
        temporaries.push_back({next_slot_, bytes, int32_t(u), int32_t(u)});
        made_.thunks_[u]->set_scratch(next_slot_++);
      }
    }
    plan_.sizes.temporary_bytes = PlanTemporaries(made_.thunks_, &temporaries);
    for (const Temporary& temporary : temporaries)
      plan_.temporaries.emplace_back(temporary.slot, temporary.offset);
    made_.table_.resize(size_t(next_slot_));
  }

  void Measure() {
    Executable::Sizes& sizes = plan_.sizes;
    for (int32_t parameter : program_.parameters) sizes.argument_bytes += shape(parameter).bytes();
    for (int32_t result : program_.results) sizes.result_bytes += shape(result).bytes();
    sizes.program_bytes = int64_t(sizeof(NativeExecutable) + made_.table_.size() * sizeof(char*) +
                                  plan_.temporaries.size() * sizeof(plan_.temporaries[0]));
    for (const Kernel& kernel : plan_.kernels)
      sizes.program_bytes += int64_t(sizeof kernel + kernel.name.size() + kernel.op_names.size() +
                                     kernel.shape.size() + kernel.operands.size());
  }

  const Program& program_;
  const Graph graph_;
  std::vector<int32_t> slots_;  // slots of the values in memory
  int32_t next_slot_ = 0;
  std::vector<const Unit*> units_;  // the units that have a thunk
  std::vector<int32_t> passed_;     // parameters that are results
  std::vector<int32_t> made_values_;
  std::vector<int32_t> last_read_, written_;
  NativeExecutable made_;
  NativeExecutable::Plan plan_;
};

absl::StatusOr<std::unique_ptr<Executable>> NativeExecutable::Make(
    const Program& program, Ref<DeviceMemory> memory, std::shared_ptr<ThreadPool> pool) {
  return Compiler(program, std::move(memory), std::move(pool)).Compile();
}

}  // namespace xlaprof::lazy
