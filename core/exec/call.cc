#include "core/exec/call.h"

namespace xlaprof::lazy {
namespace {

thread_local observe::Stack places;  // outermost first

}  // namespace

void RaiseForked(const std::source_location& where) {
  Raise(
      "this process was forked after its parent had used the lazy runtime, whose threads only the "
      "parent has. Fork before the first use of the runtime, or let the fork exec a program\n  at "
      "{}:{}",
      where.file_name(), where.line());
}

void PushPlace(const std::source_location& where) { places.push_back(where); }
void PopPlace() { places.pop_back(); }

observe::Stack StackAt(const std::source_location& where) {
  observe::Stack stack{where};
  stack.insert(stack.end(), places.rbegin(), places.rend());
  return stack;
}

}  // namespace xlaprof::lazy
