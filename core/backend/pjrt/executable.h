// A program that a plugin compiled.
#pragma once

#include "core/backend/pjrt/loaded.h"

namespace xlaprof::lazy::pjrt {

class PluginExecutable final : public Executable {
 public:
  // `loaded` was made of `program` for `device`.
  static absl::StatusOr<std::unique_ptr<PluginExecutable>> Make(const Program& program,
                                                                std::shared_ptr<Loaded> loaded,
                                                                Ref<PluginDevice> device);

  absl::StatusOr<std::vector<Ref<Buffer>>> Run(std::vector<Ref<Buffer>> arguments,
                                               const RunContext& context) override;
  Sizes sizes() const override { return sizes_; }
  // Returns one kernel, the whole program, because PJRT tells nothing of its parts.
  std::span<const Kernel> kernels() const override { return {&kernel_, 1}; }
  const Loaded& loaded() const { return *loaded_; }

 private:
  PluginExecutable(const Program& program, std::shared_ptr<Loaded> loaded,
                   Ref<PluginDevice> device);
  absl::Status Check(const std::vector<Ref<Buffer>>& arguments) const;
  absl::Status CheckResultCount() const;
  // Waits until all ranks are at this program, and returns a number that is the same for all.
  absl::StatusOr<int> MeetRanks(Peers* peers);
  absl::Status Execute(int launch);
  void ReadSizes();
  void ReadCost();

  const std::string name_;
  const std::shared_ptr<Loaded> loaded_;
  const Ref<PluginDevice> device_;
  const int64_t ranks_;
  // The first collective: its index, and what it does, for errors.
  int64_t collective_ = 0;
  std::string what_;
  std::vector<Shape> parameters_, results_;
  const std::vector<Program::Donation> donations_;
  Kernel kernel_;
  Sizes sizes_;
  // The arguments and results of the current run, and the arguments that it must not donate.
  std::vector<PJRT_Buffer*> inputs_, outputs_;
  std::vector<int64_t> kept_;
};

}  // namespace xlaprof::lazy::pjrt
