// JSON of what may be unknown.
#pragma once

#include <nlohmann/json.hpp>

namespace xlaprof {

// Null where an optional is empty.
inline nlohmann::ordered_json Nullable(const auto& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace xlaprof
