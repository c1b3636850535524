// Reads members of the JSON objects in torch's structured log. What has another type than expected
// is as if it were missing.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "profiler/import/text/utf8.h"
#include "profiler/store/rows.h"

namespace xlaprof::trace_json {

using Json = nlohmann::json;

// Returns the member of that name, or null if `object` has none or is no object.
inline const Json& At(const Json& object, const char* key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

inline OptInt IntOf(const Json& value) {
  if (value.is_number_integer()) return value.get<int64_t>();
  return {};
}

// Returns a time in nanoseconds that is printed in units of `unit_ns`.
inline OptInt NsOf(const Json& time, int64_t unit_ns) {
  if (!time.is_number()) return {};
  const double ns = time.get<double>() * double(unit_ns);
  if (!(std::abs(ns) < 0x1p62)) return {};
  if (const OptInt whole = IntOf(time)) return *whole * unit_ns;
  return std::llround(ns);
}

inline std::string TextOf(const Json& value) {
  return value.is_string() ? ToUtf8(value.get_ref<const std::string&>()) : "";
}

}  // namespace xlaprof::trace_json
