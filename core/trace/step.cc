#include "core/trace/step.h"

#include <exception>
#include <map>
#include <optional>

#include "core/environment.h"
#include "core/exec/call.h"
#include "core/exec/cut.h"
#include "core/exec/listener.h"
#include "core/ir/scope.h"
#include "core/trace/tensor_impl.h"

namespace xlaprof::lazy {
namespace {

void EndTheStep(Device& device) {
  Device::Step& step = device.step();
  std::lock_guard lock(step.mutex);
  const int64_t now_ns = device.backend().NowNs();
  const bool is_told = device.rank() == nullptr || device.rank()->is_first_of_process();
  std::optional<observe::Step> ended;
  if (step.begin_ns && is_told)
    ended = {step.name, step.number, *step.begin_ns, now_ns - *step.begin_ns};
  Tell(&RuntimeListener::OnStep, ended ? &*ended : nullptr);
  step.begin_ns = now_ns;
  step.name.clear();
  step.number.reset();
}

void RaiseIfError(const absl::Status& status) {
  if (!status.ok()) RaiseHere("{}", Message(status));
}

}  // namespace

namespace internal {

void EndStep(Device& device, std::string_view cause, bool wait, Where where, Where by) {
  Call call(where);
  if (CurrentScope() != 0) {
    RaiseHere(
        "Expecting scope to be empty but it is {}: a step ends inside of this Trace. End the Trace "
        "first, or use StepTrace",
        ScopeText(CurrentScope()));
  }
  {
    XLAPROF_OBSERVE(kHost, "StepMarker");
    RaiseIfError(CutStep(device, {cause, Call::Where(), wait || environment().sync_wait, by}));
    Tell(&RuntimeListener::OnMark, device);
    device.CountStep();
    device.AdvanceSeed();
    ResetScopes();
  }
  EndTheStep(device);
}

}  // namespace internal

void mark_step(Device& device, Where where) {
  internal::EndStep(device, cause::kUserSync, false, where);
}

void sync(bool wait, Device& device, Where where) {
  internal::EndStep(device, cause::kUserSync, wait, where);
}

void unlazy(std::span<const Tensor> tensors, Where where) {
  Call call(where);
  std::map<std::string_view, std::vector<Ref<Storage>>> by_device;
  for (const Tensor& tensor : tensors)
    by_device[tensor.device().name()].push_back(tensor.impl()->storage);
  for (const auto& [name, storages] : by_device) {
    RaiseIfError(CutTensors(storages.front()->device(), storages,
                            {cause::kValueAccess, Call::Where(), /*wait=*/true}));
  }
}

void wait_device_ops(Device& device, Where where) {
  Call call(where);
  device.WaitForAll();
}

int64_t num_cached_graphs(Device& device) {
  GraphLock lock;
  return int64_t(device.cache().size());
}

void initialize_cache(const std::filesystem::path& path, bool readonly, Device& device) {
  GraphLock lock;
  device.set_persistent_cache(std::make_unique<PersistentCache>(path, readonly));
}

namespace {
observe::Site trace_site{Category::kScope, "Trace"};
observe::Site step_site{Category::kStep, "StepTrace"};
}  // namespace

Trace::Trace(std::string_view name, Where where) : Trace(trace_site, name, where) {}

Trace::Trace(observe::Site& site, std::string_view name, Where where)
    : observed_(site, name, &where) {
  PushScope(name);
  PushPlace(where);
}

Trace::~Trace() {
  if (in_scope_) LeaveScope();
}

void Trace::LeaveScope() {
  PopScope();
  PopPlace();
  in_scope_ = false;
}

StepTrace::StepTrace(std::string_view name, int64_t number, Device& device, Where where)
    : Trace(step_site, name, where),
      device_(device),
      name_(name),
      number_(number),
      where_(where),
      exceptions_(std::uncaught_exceptions()) {
  std::lock_guard lock(device.step().mutex);
  device.step().begin_ns = device.backend().NowNs();
}

StepTrace::~StepTrace() noexcept(false) {
  LeaveScope();
  if (std::uncaught_exceptions() > exceptions_) return;
  {
    std::lock_guard lock(device_.step().mutex);
    device_.step().name = name_;
    device_.step().number = number_;
  }
  internal::EndStep(device_, cause::kStepTraceExit, false, where_);
}

}  // namespace xlaprof::lazy
