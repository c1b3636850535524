// The interface by which a lazy runtime announces what only it knows: scopes, counters and facts.
// The runtime includes this file and nothing of the profiler.
//
// Times are nanoseconds of CLOCK_MONOTONIC, or of a backend's fake clock.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "base/category.h"

namespace xlaprof::observe {

// A place that opens scopes or counts, with static storage. `number` is for the observer.
struct Site {
  Category category;  // kNone: a counter
  const char* name;
  std::atomic<uint32_t> number{0};
};

// The user's call that caused something: the call itself, then the scopes around it, innermost
// first.
using Stack = std::vector<std::source_location>;

struct GraphNode {
  std::string op, shape, attributes, scope;
  std::vector<int32_t> operands;
  std::source_location location;
  std::optional<int64_t> result;  // its index among the results
};
// A graph, announced before it is compiled for the first time.
struct Graph {
  std::string hash, name;
  int64_t inputs = 0, outputs = 0;
  std::vector<GraphNode> nodes;
};
struct Compilation {
  std::string graph_hash;
  std::string_view cause;  // in the words of the store's execution.cause
  int64_t ts_ns = 0, dur_ns = 0;
  int64_t argument_bytes = 0, result_bytes = 0, alias_bytes = 0, temporary_bytes = 0,
          program_bytes = 0;
  std::optional<bool> persistent_hit;
  Stack stack;
};
struct Execution {
  std::string graph_hash;
  std::string_view cause, device;
  uint64_t run = 0;  // the execution's number in the process, from 1 up
  int64_t enqueue_ts_ns = 0, ts_ns = 0, dur_ns = 0;
  std::string scope;
  Stack stack;
};
// A wait of the host for an announced execution.
struct HostWait {
  uint64_t run = 0;
  int64_t dur_ns = 0;
};
struct Transfer {
  bool to_device = false;
  int64_t bytes = 0, ts_ns = 0, dur_ns = 0;
  std::string_view device;
  std::string scope;
  Stack stack;
};
struct Fallback {
  std::string_view op;
  Stack stack;
};
// Parameters that were one tensor and became several when their module was moved to a device.
struct Untied {
  std::vector<std::string> names;
  int64_t bytes = 0;  // of each copy
  std::string_view device;
  Stack stack;
};
// The end of a loader, which has dealt its batches to devices and has no more.
struct LoaderEnd {
  int64_t devices = 0;
  int64_t batches = 0;  // that the program read
  int64_t dropped = 0;  // of these, at the end, because they did not suffice for all devices
  Stack stack;          // of the line that made the loader
};
// A step, which ended with a step mark. `number` is the user's, if it came from a StepTrace.
struct Step {
  std::string name;
  std::optional<int64_t> number;
  int64_t ts_ns = 0, dur_ns = 0;
};
// An operation on a device.
struct Kernel {
  std::string_view name, op_names;
  std::string_view shape, operands;  // of the result; of the operands, with commas
  int64_t ts_ns = 0, dur_ns = 0;
  double flops = 0;
  int64_t bytes = 0;
};

// Receives announcements on the threads where things happen. It must be fast and must never call
// the runtime.
class Observer {
 public:
  virtual ~Observer() = default;
  // Begin and end a scope of the calling thread; scopes nest. `place` is the user's line that opens
  // it, or null if the runtime does.
  virtual void BeginScope(Site& site, std::string_view name, const std::source_location* place) = 0;
  virtual void EndScope() = 0;
  virtual void OnCounter(Site& site, double value) = 0;
  // Enters a device: until LeaveDevice(), the calling thread does the device's work instead of its
  // own. One thread at a time works for each device.
  virtual void EnterDevice(std::string_view device) = 0;
  virtual void LeaveDevice() = 0;
  // Report a device's work. `run` connects the enqueueing of an execution to its module.
  virtual void OnModule(std::string_view name, int64_t ts_ns, int64_t dur_ns, uint64_t run) = 0;
  virtual void OnKernel(const Kernel& kernel) = 0;
  virtual void OnEnqueue(uint64_t run) = 0;

  virtual void OnGraph(const Graph& graph) = 0;
  virtual void OnCompile(const Compilation& compile) = 0;
  virtual void OnExecution(const Execution& execution) = 0;
  virtual void OnHostWait(const HostWait& wait) = 0;
  virtual void OnTransfer(const Transfer& transfer) = 0;
  virtual void OnFallback(const Fallback& fallback) = 0;
  virtual void OnUntied(const Untied& untied) = 0;
  virtual void OnLoaderEnd(const LoaderEnd& end) = 0;
  virtual void OnStep(const Step& step) = 0;
};

// The current observer, or null. An observer that was set must live until the process ends.
// Its name in the object file is that of no C++ variable, because libxlaprof_record and the program
// share it (profiler/record/library.map).
inline std::atomic<Observer*> observer asm("xlaprof_observer"){nullptr};
inline Observer* Current() { return observer.load(std::memory_order_acquire); }

// Announces a scope of the runtime, from here to the end of the block.
class Scope {
 public:
  explicit Scope(Site& site) : observer_(Current()) {
    if (observer_ != nullptr) [[unlikely]]
      observer_->BeginScope(site, site.name, nullptr);
  }
  Scope(Site& site, std::string_view name, const std::source_location* place = nullptr)
      : observer_(Current()) {
    if (observer_ != nullptr) [[unlikely]]
      observer_->BeginScope(site, name, place);
  }
  ~Scope() {
    if (observer_ != nullptr) [[unlikely]]
      observer_->EndScope();
  }
  Scope(const Scope&) = delete;

 private:
  Observer* const observer_;
};

#define XLAPROF_OBSERVE_(line, category, name)                                               \
  static ::xlaprof::observe::Site observed_site_##line{::xlaprof::Category::category, name}; \
  ::xlaprof::observe::Scope observed_scope_##line(observed_site_##line)
#define XLAPROF_OBSERVE_AT_(line, category, name) XLAPROF_OBSERVE_(line, category, name)
// Announces a scope: XLAPROF_OBSERVE(kHost, "StepMarker");
#define XLAPROF_OBSERVE(category, name) XLAPROF_OBSERVE_AT_(__LINE__, category, name)

}  // namespace xlaprof::observe
