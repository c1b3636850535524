// Finds out what the terminal can show, and prints to it.
#pragma once

#include <string>
#include <string_view>

#include "core/base/status.h"

namespace xlaprof {

// Exit statuses of every command.
inline constexpr int kExitDone = 0;
inline constexpr int kExitCouldNot = 2;

// Returns the number of columns: $COLUMNS, or the size of the terminal behind `fd`, or 100; at most
// 160.
int TerminalWidth(int fd);

// Returns whether to use colour. `when` is auto, always or never. auto requires that stdout is a
// terminal that supports colour, and that NO_COLOR is not set.
bool WantsColour(std::string_view when);

// Returns the error of a command with --force whose output exists.
absl::Status OutputExistsError(const std::string& output);

// Prints "xlaprof: message" on stderr, with control characters escaped. Returns kExitCouldNot.
int Fail(const absl::Status& status);

// Writes all of `text` to stdout, or to `path` unless it is empty. An existing file is replaced
// only when all is written, and keeps its mode. A link, a pipe or a device is written to.
absl::Status WriteOutput(std::string_view text, const std::string& path);

}  // namespace xlaprof
