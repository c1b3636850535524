// A program that a plugin compiled or loaded, ready to be executed.
#pragma once

#include <memory>

#include "core/backend/pjrt/device.h"

namespace xlaprof::lazy::pjrt {

// Returns how many ranks run the program together: those of its collectives, or 1 if it has none.
int64_t RanksOf(const Program& program);

// Any thread may use it. Ranks share it, because XLA's collectives find each other only inside one
// executable.
class Loaded {
 public:
  // Make one for the device, or return the one that another rank of the same program made.
  static absl::StatusOr<std::shared_ptr<Loaded>> Compile(const PluginDevice& device,
                                                         const Program& program);
  // `bytes` come from Serialize().
  static absl::StatusOr<std::shared_ptr<Loaded>> Deserialize(const PluginDevice& device,
                                                             const Program& program,
                                                             std::string_view bytes);
  ~Loaded();
  Loaded(const Loaded&) = delete;

  PJRT_LoadedExecutable* get() const { return loaded_; }
  PJRT_Executable* executable() const { return executable_; }
  absl::StatusOr<std::string> Serialize() const;

 private:
  Loaded(const Api& api, PJRT_LoadedExecutable* loaded) : api_(api), loaded_(loaded) {}
  static absl::StatusOr<std::shared_ptr<Loaded>> Make(const Api& api,
                                                      PJRT_LoadedExecutable* loaded);

  const Api api_;
  PJRT_LoadedExecutable* const loaded_;
  PJRT_Executable* executable_ = nullptr;
};

}  // namespace xlaprof::lazy::pjrt
