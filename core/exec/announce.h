// Reports what the runtime does to its observer. While nobody observes, each call costs one load.
#pragma once

#include <optional>

#include "core/exec/compile_cache.h"
#include "core/exec/cut.h"
#include "core/observe/observer.h"

namespace xlaprof::lazy {

// Announces a graph before it is compiled.
void AnnounceGraph(const Program& program);
// Announces a finished compilation. `begin_ns` is a time of the device's clock. `was_kept` says
// whether the program was only loaded from the persistent cache; it is empty if there is no such
// cache.
void AnnounceCompile(const CompiledGraph& graph, Device& device, const Cut& cut, int64_t begin_ns,
                     std::optional<bool> was_kept);
// Describe an execution on the thread that requests it, and announce that `run` begins here.
observe::Execution DescribeExecution(const CompiledGraph& graph, Device& device, const Cut& cut,
                                     uint64_t run);
void AnnounceEnqueue(uint64_t run);
// Marks the work that a thread does for a device, from here to the end of the block.
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
// Announces a finished execution, inside a DeviceTurn.
void AnnounceExecution(observe::Execution& execution, const std::string& name, int64_t begin_ns,
                       int64_t end_ns, const Backend& backend);

// Waits for the result of an execution. Does the device's work meanwhile if no other thread does,
// and announces how long it took.
absl::Status AwaitOnHost(const Data& data);

// Passes kernels to the observer.
class KernelAnnouncer final : public KernelListener {
 public:
  // Returns null while nobody observes.
  KernelListener* listener() { return observer_ == nullptr ? nullptr : this; }
  void OnKernel(const Kernel& kernel, int64_t ts_ns, int64_t dur_ns) override;

 private:
  observe::Observer* const observer_ = observe::Current();
};

}  // namespace xlaprof::lazy
