// Reads lines of the user's source, which may show what a capture does not: the op that a line calls.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "analyzers/run/run.h"
#include "base/source_place.h"

namespace xlaprof {

struct SourceLines {
  // Returns the line without the space around it, or nothing if it must not be read, is not there, or
  // changed after the capture. Null if no source may be read.
  std::function<std::optional<std::string>(const SourcePlace&)> read;

  // Returns the line, or "" if it is not known.
  std::string At(const SourcePlace& place) const {
    return read && !place.file.empty() && place.line ? read(place).value_or("") : "";
  }
  // Whoever knows which folders may be read sets this fact. Until then, no source is read.
  static absl::StatusOr<SourceLines> Of(const Run&) { return SourceLines(); }
};

}  // namespace xlaprof
