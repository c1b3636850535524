#include "core/backend/native/fusion.h"

#include <absl/container/flat_hash_map.h>

#include "core/backend/native/fused_thunk.h"

namespace xlaprof::lazy {
namespace {

using LoopRef = FusedThunk::Ref;
using Step = FusedThunk::Step;

int32_t WidthOf(DType type) { return int32_t(ByteSize(ComputedAs(type))); }

class Builder {
 public:
  Builder(const Program& program, const Graph& graph, const Unit& unit,
          std::span<const int32_t> slots, ThreadPool& pool)
      : program_(program), graph_(graph), unit_(unit), slots_(slots), pool_(pool) {}

  ThunkOr Build() {
    for (int32_t output : unit_.outputs) is_output_.insert({output, true});
    for (int32_t member : unit_.members) XP_TRY(Member(member));
    for (const Step& step : stores_) steps_.push_back(step);
    const int64_t elements = shape(unit_.members[0]).elements();
    return std::make_unique<FusedThunk>(std::move(steps_), std::move(fetches_), std::move(scalars_),
                                        elements, registers_, pool_);
  }

 private:
  const Instruction& instruction(int32_t i) const { return program_.instructions[size_t(i)]; }
  const Shape& shape(int32_t i) const { return instruction(i).shape; }
  LoopRef NewRegister(int32_t width) { return {.reg = registers_++, .width = width}; }
  LoopRef Memory(int32_t value) const {
    return {.slot = slots_[size_t(value)], .width = int32_t(ByteSize(shape(value).dtype))};
  }

  // Writes a member's value from `from` to memory.
  void Store(int32_t member, const LoopRef& from) {
    const Loops& loops = ThisCpusLoops();
    const DType dtype = shape(member).dtype;
    Step store{.in = {from}, .out = Memory(member)};
    store.loop = IsShort(dtype) ? loops.store[size_t(dtype)] : CopyOf(store.out.width);
    stores_.push_back(store);
  }
  static Loops::Elementwise CopyOf(int32_t width) {
    return ThisCpusLoops().copy[width == 1 ? 0 : width == 2 ? 1 : width == 4 ? 2 : 3];
  }

  absl::Status Member(int32_t i) {
    const Loops& loops = ThisCpusLoops();
    const Instruction& it = instruction(i);
    const bool output = is_output_.contains(i);
    const DType dtype = it.shape.dtype;
    if (const Splat* splat = graph_.splat(i)) {
      Store(i, Constant(*splat, dtype));
      return {};
    }
    Step step;
    step.operands = int(it.operands.size());
    for (size_t k = 0; k < it.operands.size(); ++k) step.in[k] = Operand(it.operands[k]);
    const DType from = shape(it.operands.back()).dtype;
    const Code code = CodeOf(it.op);
    const bool cast = it.op == &op::cast;
    if (cast && ComputedAs(from) == ComputedAs(dtype)) {
      // The cast only rounds, or does nothing, because both types are computed in the same way.
      if (IsShort(dtype)) {
        step.loop = loops.round[size_t(dtype)];
      } else {
        values_[i] = step.in[0];
        if (output) Store(i, step.in[0]);
        return {};
      }
    } else {
      step.loop = cast ? loops.CastOf(from, dtype)
                  : code == Code::kCount
                      ? nullptr
                      : loops.elementwise[size_t(code)][size_t(ComputedAs(from))];
    }
    if (step.loop == nullptr)
      return Unsupported("{} of {}: the native backend has no kernel for this type",
                         std::string_view(it.op->name), it.shape.ToText());
    const bool direct = output && !IsShort(dtype);
    step.out = direct ? Memory(i) : NewRegister(WidthOf(dtype));
    steps_.push_back(step);
    values_[i] = step.out;
    if (IsShort(dtype)) {
      if (!cast || ComputedAs(from) != ComputedAs(dtype))
        steps_.push_back({.loop = loops.round[size_t(dtype)], .in = {step.out}, .out = step.out});
      if (output) Store(i, step.out);
    }
    return {};
  }

  // Returns the place of an operand's value after the steps so far.
  LoopRef Operand(int32_t operand) {
    if (const Splat* splat = graph_.splat(operand)) {
      auto [known, added] = splats_.insert({graph_.root(operand), {}});
      if (added) known->second = Constant(*splat, shape(operand).dtype);
      return known->second;
    }
    const Graph::Source source = graph_.SourceOf(operand, true);
    const int32_t key = source.view < 0 ? source.value : source.view;
    if (auto known = values_.find(key); known != values_.end()) return known->second;
    return values_[key] = Read(source);
  }

  LoopRef Constant(const Splat& splat, DType dtype) {
    const LoopRef reg = NewRegister(WidthOf(dtype));
    scalars_.push_back({.reg = reg.reg, .bits = splat, .dtype = dtype});
    return reg;
  }

  // Reads a value from memory.
  LoopRef Read(const Graph::Source& source) {
    const DType dtype = shape(source.value).dtype;
    LoopRef from = Memory(source.value);
    if (source.view >= 0) {
      const Instruction& seen = instruction(source.view);
      Strided view = ViewOf(seen, shape(seen.operands[0]));
      Simplify(&view);
      if (view.dims.size() == 1 && view.strides[0] == 0) {
        const LoopRef reg = NewRegister(WidthOf(dtype));
        scalars_.push_back(
            {.reg = reg.reg, .slot = from.slot, .offset = view.offset, .dtype = dtype});
        return reg;
      }
      const LoopRef reg = NewRegister(from.width);
      steps_.push_back({.fetch = int32_t(fetches_.size()), .out = reg, .operands = 0});
      fetches_.push_back({from.slot, view, from.width});
      from = reg;
    }
    if (!IsShort(dtype)) return from;
    const LoopRef wide = NewRegister(4);
    steps_.push_back({.loop = ThisCpusLoops().load[size_t(dtype)], .in = {from}, .out = wide});
    return wide;
  }

  const Program& program_;
  const Graph& graph_;
  const Unit& unit_;
  const std::span<const int32_t> slots_;
  ThreadPool& pool_;

  absl::flat_hash_map<int32_t, bool> is_output_;
  absl::flat_hash_map<int32_t, LoopRef> values_, splats_;
  std::vector<Step> steps_, stores_;
  std::vector<FusedThunk::Fetch> fetches_;
  std::vector<FusedThunk::Scalar> scalars_;
  int32_t registers_ = 0;
};

}  // namespace

ThunkOr MakeFusion(const Program& program, const Graph& graph, const Unit& unit,
                   std::span<const int32_t> slots, ThreadPool& pool) {
  return Builder(program, graph, unit, slots, pool).Build();
}

}  // namespace xlaprof::lazy
