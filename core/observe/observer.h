// What a lazy runtime announces to whoever listens: scopes, counters and the facts that only it
// knows. The runtime includes this and nothing of the profiler.
//
// Times are nanoseconds of CLOCK_MONOTONIC, or of the fake clock of a backend that has one.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/category.h"

namespace xlaprof::observe {

// A place that opens scopes or counts, of static storage. `number` is the observer's own.
struct Site {
  Category category;  // kNone: a counter
  const char* name;
  std::atomic<uint32_t> number{0};
};

// The user's call that caused something, innermost first: the call itself, then the scopes around
// it.
using Stack = std::vector<std::source_location>;

struct GraphNode {
  std::string op, shape, attributes, scope;
  std::vector<int32_t> operands;
  std::source_location location;
  std::optional<int64_t> result;  // which of the results it is
};
// A graph, before it is compiled for the first time.
struct Graph {
  std::string hash, name;
  int64_t inputs = 0, outputs = 0;
  std::vector<GraphNode> nodes;
};
struct Compile {
  std::string graph_hash;
  std::string_view cause;  // as execution.cause of the store
  int64_t ts_ns = 0, dur_ns = 0;
  int64_t argument_bytes = 0, result_bytes = 0, alias_bytes = 0, temporary_bytes = 0,
          program_bytes = 0;
  std::optional<bool> persistent_hit;
  Stack stack;
};
struct Execution {
  std::string graph_hash;
  std::string_view cause, device;
  uint64_t run = 0;  // of the process, from 1
  int64_t enqueue_ts_ns = 0, ts_ns = 0, dur_ns = 0;
  std::string scope;
  Stack stack;
};
// The host was blocked for an execution that was announced.
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
// Parameters that were one tensor became several when their module was moved to a device.
struct Untied {
  std::vector<std::string> names;
  int64_t bytes = 0;  // of each
  std::string_view device;
  Stack stack;
};
// A step ended by a step mark. `number`: the user's, of a StepTrace.
struct Step {
  std::string name;
  std::optional<int64_t> number;
  int64_t ts_ns = 0, dur_ns = 0;
};
// An operation on a device.
struct Kernel {
  std::string_view name, op_names;
  std::string_view shape, operands;  // of the result; of what it reads, separated by commas
  int64_t ts_ns = 0, dur_ns = 0;
  double flops = 0;
  int64_t bytes = 0;
};

// Called on the threads where things happen; must be fast, and never calls the runtime.
class Observer {
 public:
  virtual ~Observer() = default;
  // Of the calling thread; they nest. `place`: the user's line that opens it; null where the
  // runtime does.
  virtual void BeginScope(Site& site, std::string_view name, const std::source_location* place) = 0;
  virtual void EndScope() = 0;
  virtual void OnCounter(Site& site, double value) = 0;
  // The calling thread does a device's work from here to LeaveDevice(), in place of its own; one
  // thread at a time does each device's.
  virtual void EnterDevice(std::string_view device) = 0;
  virtual void LeaveDevice() = 0;
  // Of a device's work; `run` leads from the execution's enqueueing to it.
  virtual void OnModule(std::string_view name, int64_t ts_ns, int64_t dur_ns, uint64_t run) = 0;
  virtual void OnKernel(const Kernel& kernel) = 0;
  virtual void OnEnqueue(uint64_t run) = 0;

  virtual void OnGraph(const Graph& graph) = 0;
  virtual void OnCompile(const Compile& compile) = 0;
  virtual void OnExecution(const Execution& execution) = 0;
  virtual void OnHostWait(const HostWait& wait) = 0;
  virtual void OnTransfer(const Transfer& transfer) = 0;
  virtual void OnFallback(const Fallback& fallback) = 0;
  virtual void OnUntied(const Untied& untied) = 0;
  virtual void OnStep(const Step& step) = 0;
};

// Who listens; null: nobody. An observer that was set is not destroyed before the process ends.
inline std::atomic<Observer*> observer{nullptr};
inline Observer* Current() { return observer.load(std::memory_order_acquire); }

// A scope of the runtime, from here to the end of the block.
class Scope {
 public:
  explicit Scope(Site& site) : Scope(site, site.name) {}
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

#define XLAPROF_OBSERVE_(line, category, name)                                                    \
  static ::xlaprof::observe::Site observed_site_##line{::xlaprof::Category::category, name}; \
  ::xlaprof::observe::Scope observed_scope_##line(observed_site_##line)
#define XLAPROF_OBSERVE_AT_(line, category, name) XLAPROF_OBSERVE_(line, category, name)
// XLAPROF_OBSERVE(kHost, "StepMarker");
#define XLAPROF_OBSERVE(category, name) XLAPROF_OBSERVE_AT_(__LINE__, category, name)

}  // namespace xlaprof::observe
