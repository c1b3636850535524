// A compiled program of the native backend.
#pragma once

#include "core/backend/native/memory.h"
#include "core/backend/native/memory_plan.h"
#include "core/backend/native/thunk.h"

namespace xlaprof::lazy {

class NativeExecutable final : public Executable {
 public:
  static absl::StatusOr<std::unique_ptr<Executable>> Make(const Program& program,
                                                          Ref<DeviceMemory> memory,
                                                          std::shared_ptr<ThreadPool> pool);

  absl::StatusOr<std::vector<Ref<Buffer>>> Run(std::vector<Ref<Buffer>> arguments,
                                               const RunContext& context) override;
  Sizes sizes() const override { return plan_->sizes; }
  std::span<const Kernel> kernels() const override { return plan_->kernels; }
  // Returns the same program for another device, whose results are in `memory`. Both may run at the
  // same time. They share the plan, the kernels' code and the threads.
  std::unique_ptr<NativeExecutable> CopyFor(Ref<DeviceMemory> memory) const;
  const ThreadPool* pool() const { return pool_.get(); }

 private:
  friend class Compiler;
  struct Parameter {
    int32_t slot;  // -1: no kernel reads it
    Shape shape;
  };
  // A tensor that is computed for results. A result is this tensor or a view of it.
  struct Made {
    int32_t slot, donor;  // donor: the argument that donates its memory; -1: none
    Shape shape;
  };
  struct Result {
    int32_t made = -1, parameter = -1;  // exactly one of them is set
    bool is_view = false;               // its sizes differ
    Shape shape;
  };

  // Holds what no run changes.
  struct Plan {
    std::string name;
    std::vector<Parameter> parameters;
    std::vector<Made> made;
    std::vector<Result> results;
    std::vector<Kernel> kernels;
    std::vector<std::pair<int32_t, int64_t>> temporaries;  // slots and offsets
    Sizes sizes;
  };

  absl::Status Check(const std::vector<Ref<Buffer>>& arguments) const;

  std::shared_ptr<const Plan> plan_;
  std::vector<std::unique_ptr<Thunk>> thunks_;
  std::unique_ptr<Meetings> meetings_;  // null: the program has no collectives
  std::vector<char*> table_;            // addresses by slot
  char* temporaries_at_ = nullptr;      // the address that the table has now
  Ref<DeviceMemory> memory_;
  std::shared_ptr<ThreadPool> pool_;
};

}  // namespace xlaprof::lazy
