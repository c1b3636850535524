#include "core/exec/listener.h"

#include <vector>

#include "core/debug/debug.h"
#include "core/environment.h"

namespace xlaprof::lazy {

std::span<RuntimeListener* const> Listeners() {
  static const std::vector<RuntimeListener*>& listeners = *[] {
    auto* made = new std::vector<RuntimeListener*>{&MetricsListener(), &ProfilerListener()};
    if (environment().diagnostics) made->push_back(&debug::DebugListener());
    return made;
  }();
  return listeners;
}

}  // namespace xlaprof::lazy
