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
  Sizes sizes() const override { return sizes_; }
  std::span<const Kernel> kernels() const override { return kernels_; }

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

  absl::Status Check(const std::vector<Ref<Buffer>>& arguments) const;

  std::string name_;
  std::vector<Parameter> parameters_;
  std::vector<Made> made_;
  std::vector<Result> results_;
  std::vector<std::unique_ptr<Thunk>> thunks_;
  std::vector<Kernel> kernels_;
  std::unique_ptr<Meetings> meetings_;  // null: the program has no collectives
  std::vector<std::pair<int32_t, int64_t>> temporaries_;  // slots and offsets
  std::vector<char*> table_;                              // addresses by slot
  char* temporaries_at_ = nullptr;                        // the address that the table has now
  Sizes sizes_;
  Ref<DeviceMemory> memory_;
  std::shared_ptr<ThreadPool> pool_;
};

}  // namespace xlaprof::lazy
