// Where steps end, and named parts of a program.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "core/observe/observer.h"
#include "core/trace/tensor.h"

namespace xlaprof::lazy {

// Computes all tensors that are alive, and ends the step: the device works while the next one is
// recorded. Raises inside of a Trace scope, whose names would go on into the next step.
void mark_step(Device& device = Device::Default(), Where where = Where::current());
// The same; `wait`: until the device is done.
void sync(bool wait = false, Device& device = Device::Default(), Where where = Where::current());
// Computes these and waits for them; the step goes on.
void unlazy(std::span<const Tensor> tensors, Where where = Where::current());
// Until the device has done all that it was given.
void wait_device_ops(Device& device = Device::Default());
int64_t num_cached_graphs(Device& device = Device::Default());
// From now on compiled programs are kept in this folder, for other processes too, and looked for
// there (docs/decisions/0008). `readonly`: only looked for. As XLA_PERSISTENT_CACHE_PATH.
void initialize_cache(const std::filesystem::path& path, bool readonly = false,
                      Device& device = Device::Default());

namespace internal {
void EndStep(Device& device, std::string_view cause, bool wait, Where where);
}

// A named part of the program, to the end of the block: in the timeline, and in the names of the
// nodes that are recorded in it.
class Trace {
 public:
  explicit Trace(std::string_view name, Where where = Where::current());
  ~Trace();
  Trace(const Trace&) = delete;

 protected:
  Trace(observe::Site& site, std::string_view name, Where where);
  // Nodes are not named by it any more; in the timeline it goes on.
  void LeaveScope();

 private:
  observe::Scope observed_;
  bool in_scope_ = true;
};

// A step, with the user's number; ends with a step mark.
class StepTrace : Trace {
 public:
  StepTrace(std::string_view name, int64_t number, Device& device = Device::Default(),
            Where where = Where::current());
  // Raises what the step mark raises, unless another error is on its way.
  ~StepTrace() noexcept(false);

 private:
  Device& device_;
  const std::string name_;
  const int64_t number_;
  const Where where_;
  const int exceptions_;
};

}  // namespace xlaprof::lazy
