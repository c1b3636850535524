// Quotes a line of the user's source in a report. Paths from a capture are never trusted.
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

// Returns line `line` of `file`, if `file` resolves (symlinks followed) to a regular text file
// under one of `roots` whose name has a suffix of source code, such as .py or .cc. If the path does
// not exist, its longest suffix that exists under a root is used. Otherwise returns nothing.
// `capture_epoch_ns` is the time of the capture, or 0 if it is unknown. With it the quote says
// whether the file changed more than a minute later.
std::optional<Quote> QuoteSource(const std::string& file, int64_t line,
                                 std::span<const std::filesystem::path> roots,
                                 int64_t capture_epoch_ns);

}  // namespace xlaprof
