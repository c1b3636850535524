#include "analyzers/words/slow_settings.h"

#include <string_view>
#include <vector>

namespace xlaprof {

std::string SlowSettingsText(const SlowSettings& settings) {
  std::vector<std::string_view> on;
  if (settings.ir_debug) on.push_back("XLA_IR_DEBUG/XLA_HLO_DEBUG");
  if (settings.dumps) on.push_back("XLA_SAVE_TENSORS_FILE");
  if (settings.fallback_stacks) on.push_back("PT_XLA_DEBUG");
  if (settings.python_tracer) on.push_back("the Python tracer");
  std::string out;
  for (size_t i = 0; i < on.size(); ++i) {
    out += i == 0 ? "" : i + 1 == on.size() ? " and " : ", ";
    out += on[i];
  }
  return out;
}

}  // namespace xlaprof
