#include "core/backend/native/widened.h"

namespace xlaprof::lazy {
namespace {

// Returns a place as the inner thunk sees it.
Shape WideShape(const Shape& shape) { return {Widened(shape.dtype), shape.dims}; }

class WidenedThunk final : public Cloned<WidenedThunk> {
 public:
  // The inner thunk's slots are the operands, the outputs and scratch memory.
  WidenedThunk(const Task& task, std::unique_ptr<Thunk> inner)
      : places_(task.operands.begin(), task.operands.end()),
        operands_(task.operands.size()),
        inner_(std::move(inner)),
        pool_(task.pool) {
    places_.push_back(task.result);
    places_.insert(places_.end(), task.others.begin(), task.others.end());
    table_.resize(places_.size() + 1);
    inner_->set_scratch(int32_t(table_.size()) - 1);
  }

  WidenedThunk(const WidenedThunk& other)
      : Cloned(other),
        places_(other.places_),
        operands_(other.operands_),
        inner_(other.inner_->Clone(nullptr)),
        table_(other.table_),
        pool_(other.pool_) {}

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
        Convert(Load(place), memory[place.slot], place.shape, table_[i], WideShape(place.shape));
    }
    table_.back() = at;
    inner_->Run(table_.data());
    for (size_t i = operands_; i < places_.size(); ++i) {
      const TensorSlot& place = places_[i];
      if (place.slot >= 0)
        Convert(Store(place), table_[i], WideShape(place.shape), memory[place.slot], place.shape);
    }
  }

 private:
  static int64_t Wide(const TensorSlot& place) {
    return place.slot < 0 ? 0 : RoundedToLine(WideShape(place.shape).bytes());
  }
  static Loops::Elementwise Load(const TensorSlot& place) {
    return ThisCpusLoops().load[size_t(place.shape.dtype)];
  }
  static Loops::Elementwise Store(const TensorSlot& place) {
    return ThisCpusLoops().store[size_t(place.shape.dtype)];
  }

  void Convert(Loops::Elementwise loop, const char* from, const Shape& from_shape, char* to,
               const Shape& to_shape) const {
    const int64_t from_width = ByteSize(from_shape.dtype), to_width = ByteSize(to_shape.dtype);
    pool_.For(from_shape.elements(), kGrain, [&](int64_t begin, int64_t end) {
      const void* in[] = {from + begin * from_width};
      loop(in, to + begin * to_width, end - begin);
    });
  }

  std::vector<TensorSlot> places_;  // the operands, then the outputs
  const size_t operands_;
  const std::unique_ptr<Thunk> inner_;
  std::vector<char*> table_;
  ThreadPool& pool_;
};

}  // namespace

ThunkOr MakeWidened(const Task& task, ThunkOr (*make)(const Task&)) {
  Instruction wide = task.instruction;
  wide.shape = WideShape(wide.shape);
  Task inner{.instruction = wide,
             .operands = task.operands,
             .result = task.result,
             .others = task.others,
             .transposed = {task.transposed[0], task.transposed[1]},
             .pool = task.pool};
  int32_t next = 0;
  auto widen = [&](TensorSlot& place) {
    if (place.slot >= 0) place.slot = next;
    place.shape = WideShape(place.shape);
    ++next;
  };
  for (TensorSlot& operand : inner.operands) widen(operand);
  widen(inner.result);
  for (TensorSlot& other : inner.others) widen(other);
  XP_TRY(std::unique_ptr<Thunk> thunk, make(inner));
  return std::make_unique<WidenedThunk>(task, std::move(thunk));
}

}  // namespace xlaprof::lazy
