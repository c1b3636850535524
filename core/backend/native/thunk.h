// A kernel that is ready to run. A native executable is a list of thunks.
#pragma once

#include <cstring>
#include <memory>

#include "base/status.h"
#include "core/backend/native/loops.h"
#include "core/backend/native/thread_pool.h"
#include "core/backend/peers.h"
#include "core/graph/program.h"

namespace xlaprof::lazy {

// A tensor in memory. `slot` is the index of its address in the table that a thunk gets.
struct TensorSlot {
  int32_t slot = -1;
  Shape shape;
};

// Returns the size that memory takes when each piece begins a cache line, in bytes.
inline int64_t RoundedToLine(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// The ranks with which an executable's collectives meet while it runs, and what went wrong. After
// an error, the executable stops.
struct Meetings {
  Peers* peers = nullptr;
  absl::Status status;
};

class Thunk {
 public:
  virtual ~Thunk() = default;

  virtual void Run(char* const* memory) = 0;
  // Returns a copy that may run at the same time as this. What takes long to make, they share.
  // `meetings` are those of the copy's executable.
  virtual std::unique_ptr<Thunk> Clone(Meetings* meetings) const = 0;

  // Returns whether the result may be written over the operand, element for element. If that is
  // planned, Reuse is called before the first Run; the addresses may still differ.
  virtual bool MayReuse(int32_t operand_slot, int32_t result_slot) const { return false; }
  virtual void Reuse(int32_t operand_slot, int32_t result_slot) {}
  // Returns the bytes of memory that it needs while it runs.
  virtual int64_t scratch_bytes() const { return 0; }
  void set_scratch(int32_t slot) { scratch_ = slot; }

 protected:
  void Join(Meetings*) {}  // of a copy; collectives have one of their own
  int32_t scratch_ = -1;
};

// Implements Clone by the copy constructor of `Self`.
template <class Self, class Base = Thunk>
class Cloned : public Base {
 public:
  using Base::Base;
  std::unique_ptr<Thunk> Clone(Meetings* meetings) const override {
    auto copy = std::make_unique<Self>(static_cast<const Self&>(*this));
    static_cast<Cloned&>(*copy).Join(meetings);
    return copy;
  }
};

// An instruction with its tensors' places, for makers of thunks of single instructions.
struct Task {
  const Instruction& instruction;
  absl::InlinedVector<TensorSlot, 3> operands;
  TensorSlot result;
  // For an operation with several outputs: those after the first. An output that nobody needs, even
  // the first, has no slot.
  absl::InlinedVector<TensorSlot, 2> others;
  // For a matrix product: whether an operand's last two dimensions are swapped in memory.
  bool transposed[2] = {false, false};
  ThreadPool& pool;
  Meetings* meetings = nullptr;  // for collectives
  int32_t index = 0;             // the instruction's, in the program

  const Shape& shape(size_t operand) const { return operands[operand].shape; }
  int64_t attribute(size_t index) const { return instruction.attributes[index]; }
};
using ThunkOr = absl::StatusOr<std::unique_ptr<Thunk>>;

// Returns the operation and the sizes of its operands and result as text, for messages.
std::string Describe(const Task& task);

// The smallest piece of work that is worth another thread, in elements touched.
inline constexpr int64_t kGrain = 32768;

// The size of a dimension, and the products of the sizes before and after it.
struct Around {
  int64_t outer = 1, size = 1, inner = 1;
  Around(const Shape& shape, size_t dim) : size(shape.dims[dim]) {
    for (size_t i = 0; i < dim; ++i) outer *= shape.dims[i];
    for (size_t i = dim + 1; i < shape.dims.size(); ++i) inner *= shape.dims[i];
  }
};

// Returns the number of rows of `row_elements` that make up such a piece.
inline int64_t GrainOfRows(int64_t row_elements) {
  return row_elements >= kGrain ? 1 : kGrain / (row_elements < 1 ? 1 : row_elements);
}

// Makes a thunk that calls a function.
template <class F>
std::unique_ptr<Thunk> ThunkOf(F run) {
  class OfFunction final : public Cloned<OfFunction> {
   public:
    explicit OfFunction(F run) : run_(std::move(run)) {}
    void Run(char* const* memory) override { run_(memory); }

   private:
    F run_;
  };
  return std::make_unique<OfFunction>(std::move(run));
}

ThunkOr MakeReduction(const Task& task);
ThunkOr MakeArgMax(const Task& task);
ThunkOr MakeCumSum(const Task& task);
ThunkOr MakeMovement(const Task& task);  // expand, permute, slice, slice_scatter, cat, pad, flip
// Makes index_select, gather, scatter, scatter_add, index_copy, index_add.
ThunkOr MakeIndexing(const Task& task);
ThunkOr MakeArange(const Task& task);
ThunkOr MakeUniform(const Task& task);
ThunkOr MakeProduct(const Task& task);  // mm, bmm
ThunkOr MakeConvolution(const Task& task);
ThunkOr MakePooling(const Task& task);
ThunkOr MakeBatchNorm(const Task& task);
ThunkOr MakeCollective(const Task& task);

}  // namespace xlaprof::lazy
