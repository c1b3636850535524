// A line of the user's source, for a report. Never trusts a path that came out of a capture.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace xlaprof {

struct Quote {
  std::string text;  // the line, trimmed, control characters removed, at most 200 characters
  bool newer_than_capture = false;
};

// Line `line` of `file`, if `file` resolves (symlinks followed) to a regular text file under one of
// `roots`; a path that is not there is tried by its longest suffix that exists under a root. Empty
// otherwise. `capture_epoch_ns`: when the capture was made, to say that the file has changed since;
// 0 if unknown.
std::optional<Quote> QuoteSource(const std::string& file, int64_t line,
                                 std::span<const std::filesystem::path> roots,
                                 int64_t capture_epoch_ns);

}  // namespace xlaprof
