#include "core/backend/native/through_f32.h"

namespace xlaprof::lazy {
namespace {

int64_t Rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

class ThroughF32 final : public Thunk {
 public:
  // The inner thunk's slots: operands, result, scratch.
  ThroughF32(const Task& task, std::unique_ptr<Thunk> inner)
      : operands_(task.operands),
        result_(task.result),
        inner_(std::move(inner)),
        table_(task.operands.size() + 2),
        pool_(task.pool) {
    const Loops& loops = ThisCpusLoops();
    const bool half = task.result.shape.dtype == DType::kF16;
    load_ = half ? loops.load_f16 : loops.load_bf16;
    store_ = half ? loops.store_f16 : loops.store_bf16;
    inner_->set_scratch(int32_t(table_.size()) - 1);
  }

  int64_t scratch_bytes() const override {
    int64_t bytes = Rounded(result_.shape.elements() * 4) + inner_->scratch_bytes();
    for (const Place& operand : operands_) bytes += Rounded(operand.shape.elements() * 4);
    return bytes;
  }

  void Run(char* const* memory) override {
    char* at = memory[scratch_];
    for (size_t i = 0; i < operands_.size(); ++i) {
      Convert(load_, memory[operands_[i].slot], 2, at, 4, operands_[i].shape.elements());
      table_[i] = at;
      at += Rounded(operands_[i].shape.elements() * 4);
    }
    char* result = table_[operands_.size()] = at;
    table_.back() = at + Rounded(result_.shape.elements() * 4);
    inner_->Run(table_.data());
    Convert(store_, result, 4, memory[result_.slot], 2, result_.shape.elements());
  }

 private:
  void Convert(Loops::Elementwise loop, const char* from, int64_t from_width, char* to,
               int64_t to_width, int64_t elements) const {
    pool_.For(elements, kGrain, [&](int64_t begin, int64_t end) {
      const void* in[] = {from + begin * from_width};
      loop(in, to + begin * to_width, end - begin);
    });
  }

  const absl::InlinedVector<Place, 3> operands_;
  const Place result_;
  const std::unique_ptr<Thunk> inner_;
  std::vector<char*> table_;
  ThreadPool& pool_;
  Loops::Elementwise load_, store_;
};

}  // namespace

ThunkOr MakeThroughF32(const Task& task, ThunkOr (*make)(const Task&)) {
  Instruction wide = task.instruction;
  wide.shape.dtype = DType::kF32;
  Task inner{wide, task.operands, task.result, {task.transposed[0], task.transposed[1]}, task.pool};
  for (size_t i = 0; i < inner.operands.size(); ++i) {
    inner.operands[i].slot = int32_t(i);
    inner.operands[i].shape.dtype = DType::kF32;
  }
  inner.result = {int32_t(task.operands.size()), wide.shape};
  XP_TRY(std::unique_ptr<Thunk> thunk, make(inner));
  return std::make_unique<ThroughF32>(task, std::move(thunk));
}

}  // namespace xlaprof::lazy
