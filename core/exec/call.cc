#include "core/exec/call.h"

namespace xlaprof::lazy {
namespace {

thread_local observe::Stack places;  // outermost first

}  // namespace

void PushPlace(const std::source_location& where) { places.push_back(where); }
void PopPlace() { places.pop_back(); }

observe::Stack StackAt(const std::source_location& where) {
  observe::Stack stack{where};
  stack.insert(stack.end(), places.rbegin(), places.rend());
  return stack;
}

}  // namespace xlaprof::lazy
