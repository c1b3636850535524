// Reads strings of Python as repr() prints them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace xlaprof {

// Returns what a string of Python holds whose quotes are around `inner`: \n becomes a line break.
std::string FromPythonString(std::string_view inner);

// Returns what a line holds that is one string of several lines, perhaps of bytes and in brackets:
// `'a\nb'`, `(b"a\nb",)`. Returns nothing for any other line.
std::optional<std::string> LinesOfPythonString(std::string_view line);

}  // namespace xlaprof
