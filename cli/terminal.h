// Finds out what the terminal can show, and prints to it.
#pragma once

#include <unistd.h>

#include <string>
#include <string_view>

#include "base/status.h"

namespace xlaprof {

// Exit statuses of every command.
inline constexpr int kExitDone = 0;
inline constexpr int kExitCouldNot = 2;

// Returns the number of columns: $COLUMNS, or the size of the terminal behind `fd`, or 100; at most
// 160.
int TerminalWidth(int fd);

// Returns whether to use colour on `fd`. `when` is auto, always or never. auto requires that `fd` is a
// terminal that supports colour, and that NO_COLOR is not set.
bool WantsColour(std::string_view when, int fd = STDOUT_FILENO);

// Says "xlaprof: message" on stderr, with control characters escaped. Returns kExitCouldNot.
int Fail(const absl::Status& status);

// Writes all of `text` to stdout, and what waits in its buffer. Also returns an error if an earlier
// write to stdout failed. Messages go to stderr, with Say (base/say.h).
absl::Status Print(std::string_view text);

}  // namespace xlaprof
