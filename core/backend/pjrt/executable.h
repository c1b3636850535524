// A program that a plugin compiled.
#pragma once

#include "core/backend/pjrt/device.h"

namespace xlaprof::lazy::pjrt {

class PluginExecutable final : public Executable {
 public:
  // Takes ownership of `loaded`, which was made of `program` for `device`.
  static absl::StatusOr<std::unique_ptr<PluginExecutable>> Make(const Program& program,
                                                                PJRT_LoadedExecutable* loaded,
                                                                Ref<PluginDevice> device);
  ~PluginExecutable() override;

  absl::StatusOr<std::vector<Ref<Buffer>>> Run(std::vector<Ref<Buffer>> arguments,
                                               KernelListener* listener) override;
  Sizes sizes() const override { return sizes_; }
  // Returns one kernel, the whole program, because PJRT tells nothing of its parts.
  std::span<const Kernel> kernels() const override { return {&kernel_, 1}; }
  absl::StatusOr<std::string> Serialize() const;

 private:
  PluginExecutable(const Program& program, PJRT_LoadedExecutable* loaded, Ref<PluginDevice> device);
  absl::Status Check(const std::vector<Ref<Buffer>>& arguments) const;
  absl::Status CheckResultCount() const;
  absl::Status Execute();
  void ReadSizes();
  void ReadCost();

  const std::string name_;
  PJRT_LoadedExecutable* const loaded_;
  PJRT_Executable* executable_ = nullptr;
  const Ref<PluginDevice> device_;
  std::vector<Shape> parameters_, results_;
  const std::vector<Program::Donation> donations_;
  Kernel kernel_;
  Sizes sizes_;
  // The arguments and results of the current run, and the arguments that it must not donate.
  std::vector<PJRT_Buffer*> inputs_, outputs_;
  std::vector<int64_t> kept_;
};

}  // namespace xlaprof::lazy::pjrt
