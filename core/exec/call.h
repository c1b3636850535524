// Knows the user's line that the runtime works for: the line of the outermost call into the
// runtime, whatever that call calls.
#pragma once

#include <optional>
#include <source_location>
#include <utility>

#include "base/fork.h"
#include "core/exec/graph_lock.h"
#include "core/ir/call_stack.h"
#include "core/ir/error.h"
#include "core/observe/observer.h"

namespace xlaprof::lazy {

// Raises the error of a process that cannot use the runtime, because it was forked.
[[noreturn]] void RaiseForked(const std::source_location& where);

// Marks a call into the runtime. Each public function begins with `Call call(where);`.
class Call {
 public:
  explicit Call(const std::source_location& where) : is_outermost_(current_.line() == 0) {
    if (!is_outermost_) return;
    if (is_forked) RaiseForked(where);
    current_ = where;
    if (records_call_stacks.load(std::memory_order_relaxed)) [[unlikely]]
      current_call_stack = CaptureCallStack();
  }
  ~Call() {
    if (is_outermost_) current_ = {};
  }
  Call(const Call&) = delete;

  static const std::source_location& Where() { return current_; }

 private:
  friend class CallOf;
  static inline constinit thread_local std::source_location current_{};
  const bool is_outermost_;
};

// Marks a call that only records operations, or computes their gradients. Other threads record and
// cut before or after it. The outermost one is told as tracing; what it transfers or executes has
// scopes of its own.
class OpCall {
 public:
  explicit OpCall(const std::source_location& where) : call_(where) {
    if (GraphLock::is_held()) return;
    scope_.emplace(site_);
    lock_.emplace();
  }
  OpCall(const OpCall&) = delete;

 private:
  static inline observe::Site site_{Category::kTracing, "LazyTracing"};
  const Call call_;
  std::optional<observe::Scope> scope_;
  std::optional<GraphLock> lock_;
};

// Works on behalf of another line. For example, gradients belong to the forward operation's line.
class CallOf {
 public:
  CallOf(const std::source_location& where, CallStackId stack)
      : before_(std::exchange(Call::current_, where)),
        stack_before_(std::exchange(current_call_stack, stack)) {}
  ~CallOf() {
    Call::current_ = before_;
    current_call_stack = stack_before_;
  }
  CallOf(const CallOf&) = delete;

 private:
  const std::source_location before_;
  const CallStackId stack_before_;
};

// Raises an Error that ends with the user's line, if that is known.
template <class... Args>
[[noreturn]] void RaiseHere(fmt::format_string<Args...> format, Args&&... args) {
  const std::source_location& where = Call::Where();
  std::string text = fmt::format(format, std::forward<Args>(args)...);
  if (where.line() != 0) text += fmt::format("\n  at {}:{}", where.file_name(), where.line());
  throw Error(text);
}

// Returns `where`, then the places of the Trace scopes around it, innermost first.
observe::Stack StackAt(const std::source_location& where);
// Begin and end a Trace scope of the calling thread.
void PushPlace(const std::source_location& where);
void PopPlace();

}  // namespace xlaprof::lazy
