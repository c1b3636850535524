// What the terminal can show, and how the program speaks to it.
#pragma once

#include <string>
#include <string_view>

#include "core/base/status.h"

namespace xlaprof {

// Exit statuses of every command.
inline constexpr int kExitDone = 0;
inline constexpr int kExitCouldNot = 2;

// Columns: $COLUMNS, else the size of the terminal behind `fd`, else 100.
int TerminalWidth(int fd);

// `when` is auto, always or never. auto: stdout is a terminal that can, and NO_COLOR is not set.
bool WantsColour(std::string_view when);

// Prints "xlaprof: message" on stderr, control characters escaped; returns kExitCouldNot.
int Fail(const absl::Status& status);

// Writes all of `text` to stdout, or to `path` unless it is empty. A file that is there is replaced
// once all is written and keeps its mode; a link, a pipe or a device is written to.
absl::Status WriteOutput(std::string_view text, const std::string& path);

}  // namespace xlaprof
