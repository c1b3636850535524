// Converts optional values to JSON.
#pragma once

#include <nlohmann/json.hpp>

namespace xlaprof {

// Returns null for an empty optional.
inline nlohmann::ordered_json Nullable(const auto& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace xlaprof
