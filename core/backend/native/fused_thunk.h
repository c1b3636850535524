// A fusion as a list of loops. fusion.cc makes it, fused_thunk.cc runs it.
#pragma once

#include "core/backend/native/graph.h"
#include "core/backend/native/thunk.h"

namespace xlaprof::lazy {

class FusedThunk final : public Cloned<FusedThunk> {
 public:
  // A place that a loop reads or writes: memory, or a register, which is one block of private
  // memory.
  struct Ref {
    int32_t slot = -1;  // -1: a register
    int32_t reg = -1;
    int32_t width = 0;  // distance between elements in bytes
  };
  // Reads a block of a tensor, in another order, into a register.
  struct Fetch {
    int32_t slot;
    Strided view;
    int32_t width;
  };
  struct Step {
    Loops::Elementwise loop = nullptr;  // null: run fetches[fetch]
    int32_t fetch = -1;
    Ref in[3], out;
    int operands = 1;
  };
  // A register whose value is the same for all blocks.
  struct Scalar {
    int32_t reg;
    int32_t slot = -1;  // slot of the value in memory; -1: use bits
    int64_t offset = 0;
    Splat bits;
    DType dtype;
  };

  FusedThunk(std::vector<Step> steps, std::vector<Fetch> fetches, std::vector<Scalar> scalars,
             int64_t elements, int32_t registers, ThreadPool& pool);

  void Run(char* const* memory) override;
  bool MayReuse(int32_t operand, int32_t result) const override;
  void Reuse(int32_t operand, int32_t result) override;

 private:
  void Prepare();
  void RunRange(char* const* memory, int64_t begin, int64_t end) const;

  std::vector<Step> steps_;
  std::vector<Fetch> fetches_;
  std::vector<Scalar> scalars_;
  int64_t elements_, block_ = 0, grain_ = 0;
  int32_t registers_;  // before Prepare, each is written once
  bool prepared_ = false;
  ThreadPool& pool_;
};

}  // namespace xlaprof::lazy
