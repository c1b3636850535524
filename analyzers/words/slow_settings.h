// Words for the settings that slowed a capture down.
#pragma once

#include <string>

#include "analyzers/run/capture.h"

namespace xlaprof {

// Returns the names of the settings that are on: "XLA_IR_DEBUG/XLA_HLO_DEBUG and
// XLA_SAVE_TENSORS_FILE".
std::string SlowSettingsText(const SlowSettings& settings);

}  // namespace xlaprof
