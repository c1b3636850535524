// What the runtime does, told to who observes it. Each costs a load where nobody does.
#pragma once

#include <optional>

#include "core/exec/compile_cache.h"
#include "core/exec/cut.h"
#include "core/observe/observer.h"

namespace xlaprof::lazy {

// Before it is compiled.
void AnnounceGraph(const Program& program);
// Of a compilation that is over; `begin_ns` by the device's clock. `was_kept`: whether it was only
// loaded from the persistent cache; none: there is none.
void AnnounceCompile(const CompiledGraph& graph, Device& device, const Cut& cut, int64_t begin_ns,
                     std::optional<bool> was_kept);
// On the thread that asks for an execution: what it knows of it, and that `run` begins here.
observe::Execution DescribeExecution(const CompiledGraph& graph, Device& device, const Cut& cut,
                                     uint64_t run);
void AnnounceEnqueue(uint64_t run);
// What a thread does for a device, from here to the end of the block.
class DeviceTurn {
 public:
  explicit DeviceTurn(const std::string& device) : observer_(observe::Current()) {
    if (observer_ != nullptr) observer_->EnterDevice(device);
  }
  ~DeviceTurn() {
    if (observer_ != nullptr) observer_->LeaveDevice();
  }
  DeviceTurn(const DeviceTurn&) = delete;

 private:
  observe::Observer* const observer_;
};
// In such a block, when an execution is over.
void AnnounceExecution(observe::Execution& execution, const std::string& name, int64_t begin_ns,
                       int64_t end_ns, const Backend& backend);

// Waits for what an execution makes, doing the device's work meanwhile if nobody does, and tells
// for how long.
absl::Status AwaitOnHost(const Data& data);

// Passes kernels on.
class KernelAnnouncer final : public KernelListener {
 public:
  // Null while nobody observes.
  KernelListener* listener() { return observer_ == nullptr ? nullptr : this; }
  void OnKernel(const Kernel& kernel, int64_t ts_ns, int64_t dur_ns) override;

 private:
  observe::Observer* const observer_ = observe::Current();
};

}  // namespace xlaprof::lazy
