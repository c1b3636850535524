#include "analyzers/words/slow_settings.h"

#include <string>
#include <vector>

#include "analyzers/quantity.h"

namespace xlaprof {

std::string SlowSettingsText(const SlowSettings& settings) {
  std::vector<std::string> on;
  if (settings.ir_debug) on.push_back("XLA_IR_DEBUG/XLA_HLO_DEBUG");
  if (settings.dumps) on.push_back("XLA_SAVE_TENSORS_FILE");
  if (settings.fallback_stacks) on.push_back("PT_XLA_DEBUG");
  if (settings.python_tracer) on.push_back("the Python tracer");
  return ListText(on);
}

}  // namespace xlaprof
