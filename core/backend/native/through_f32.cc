#include "core/backend/native/through_f32.h"

namespace xlaprof::lazy {
namespace {

class ThroughF32 final : public Thunk {
 public:
  // The inner thunk's slots are the operands, the outputs and scratch memory.
  ThroughF32(const Task& task, std::unique_ptr<Thunk> inner)
      : places_(task.operands.begin(), task.operands.end()),
        operands_(task.operands.size()),
        inner_(std::move(inner)),
        pool_(task.pool) {
    places_.push_back(task.result);
    places_.insert(places_.end(), task.others.begin(), task.others.end());
    table_.resize(places_.size() + 1);
    const Loops& loops = ThisCpusLoops();
    const bool half = task.shape(0).dtype == DType::kF16;
    load_ = half ? loops.load_f16 : loops.load_bf16;
    store_ = half ? loops.store_f16 : loops.store_bf16;
    inner_->set_scratch(int32_t(table_.size()) - 1);
  }

  int64_t scratch_bytes() const override {
    int64_t bytes = inner_->scratch_bytes();
    for (const TensorSlot& place : places_) bytes += Wide(place);
    return bytes;
  }

  void Run(char* const* memory) override {
    char* at = memory[scratch_];
    for (size_t i = 0; i < places_.size(); ++i) {
      const TensorSlot& place = places_[i];
      table_[i] = at;
      at += Wide(place);
      if (i < operands_)
        Convert(load_, memory[place.slot], 2, table_[i], 4, place.shape.elements());
    }
    table_.back() = at;
    inner_->Run(table_.data());
    for (size_t i = operands_; i < places_.size(); ++i) {
      const TensorSlot& place = places_[i];
      if (place.slot >= 0)
        Convert(store_, table_[i], 4, memory[place.slot], 2, place.shape.elements());
    }
  }

 private:
  static int64_t Wide(const TensorSlot& place) {
    return place.slot < 0 ? 0 : RoundedToLine(place.shape.elements() * 4);
  }

  void Convert(Loops::Elementwise loop, const char* from, int64_t from_width, char* to,
               int64_t to_width, int64_t elements) const {
    pool_.For(elements, kGrain, [&](int64_t begin, int64_t end) {
      const void* in[] = {from + begin * from_width};
      loop(in, to + begin * to_width, end - begin);
    });
  }

  std::vector<TensorSlot> places_;  // the operands, then the outputs
  const size_t operands_;
  const std::unique_ptr<Thunk> inner_;
  std::vector<char*> table_;
  ThreadPool& pool_;
  Loops::Elementwise load_, store_;
};

}  // namespace

ThunkOr MakeThroughF32(const Task& task, ThunkOr (*make)(const Task&)) {
  Instruction wide = task.instruction;
  wide.shape.dtype = DType::kF32;
  Task inner{.instruction = wide,
             .operands = task.operands,
             .result = task.result,
             .others = task.others,
             .transposed = {task.transposed[0], task.transposed[1]},
             .pool = task.pool};
  int32_t next = 0;
  auto widen = [&](TensorSlot& place) {
    if (place.slot >= 0) place.slot = next;
    place.shape.dtype = DType::kF32;
    ++next;
  };
  for (TensorSlot& operand : inner.operands) widen(operand);
  widen(inner.result);
  for (TensorSlot& other : inner.others) widen(other);
  XP_TRY(std::unique_ptr<Thunk> thunk, make(inner));
  return std::make_unique<ThroughF32>(task, std::move(thunk));
}

}  // namespace xlaprof::lazy
