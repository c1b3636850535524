// Ends steps, and names parts of a program.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "core/observe/observer.h"
#include "core/trace/tensor.h"

namespace xlaprof::lazy {

// Computes all live tensors and ends the step. The device works while the next step is recorded.
// Raises an Error inside a Trace scope, whose names would continue into the next step.
void mark_step(Device& device = Device::Default(), Where where = Where::current());
// Does the same. `wait` waits until the device is done.
void sync(bool wait = false, Device& device = Device::Default(), Where where = Where::current());
// Computes these tensors and waits for them. The step continues.
void unlazy(std::span<const Tensor> tensors, Where where = Where::current());
inline void unlazy(std::initializer_list<Tensor> tensors, Where where = Where::current()) {
  unlazy(std::span<const Tensor>(tensors), where);
}
// Waits until the device has done everything it was given.
void wait_device_ops(Device& device = Device::Default(), Where where = Where::current());
int64_t num_cached_graphs(Device& device = Device::Default());
// From now on keeps compiled programs in this directory, also for other processes, and looks for
// them there (docs/decisions/0008). `readonly` only looks. XLA_PERSISTENT_CACHE_PATH does the same.
void initialize_cache(const std::filesystem::path& path, bool readonly = false,
                      Device& device = Device::Default());

namespace internal {
// `by` is the public function that calls it.
void EndStep(Device& device, std::string_view cause, bool wait, Where where,
             Where by = Where::current());
}

// A named part of the program, until the end of the block. Its name is in the timeline and in the
// names of the nodes recorded in it.
class Trace {
 public:
  explicit Trace(std::string_view name, Where where = Where::current());
  ~Trace();
  Trace(const Trace&) = delete;

 protected:
  Trace(observe::Site& site, std::string_view name, Where where);
  // Stops naming nodes by it. In the timeline it continues.
  void LeaveScope();

 private:
  observe::Scope observed_;
  bool in_scope_ = true;
};

// A step with the user's number. It ends with a step mark.
class StepTrace : Trace {
 public:
  StepTrace(std::string_view name, int64_t number, Device& device = Device::Default(),
            Where where = Where::current());
  // Raises what the step mark raises, unless the stack is being unwound for another error.
  ~StepTrace() noexcept(false);

 private:
  Device& device_;
  const std::string name_;
  const int64_t number_;
  const Where where_;
  const int exceptions_;
};

}  // namespace xlaprof::lazy
