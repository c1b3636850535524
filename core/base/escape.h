// What text from outside needs where it is shown: a name in a capture may hold anything, and must
// stay a name. One function a place; what they return is valid UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace xlaprof {

// The character of UTF-8 `text` at `at`, which lies inside it; code -1 where its bytes are no
// UTF-8 (bytes is 1 then).
struct Character {
  int32_t code = -1;
  int bytes = 1;
};
Character CharacterAt(std::string_view text, size_t at);

// Bytes that are no text: two digits each, lower-case.
std::string Hex(std::string_view bytes);

// For a terminal: control characters, what turns the direction of writing or shows nothing, and
// invalid bytes as \n, \t, \x1b, \u202e, \U000e0001, \xff. Real line ends stay where
// `keep_newlines`.
std::string Printable(std::string_view text, bool keep_newlines = false);

// For GitHub's Markdown, in running text, table cells and HTML blocks: no markup, no links, no
// mentions of people.
std::string MarkdownText(std::string_view text);

// A fenced block of Markdown that nothing in `body` closes. `body` is printable already.
std::string MarkdownFenced(std::string_view language, std::string_view body);

// JSON that is valid already, with all that would steer a terminal (DEL, C1, bidi) or show nothing
// escaped as well.
std::string TerminalSafeJson(std::string json);

// A field of RFC 4180 that a spreadsheet does not take for a formula: text that begins with one of
// = + - @ tab CR gets a ' before it. Invalid UTF-8 becomes U+FFFD.
std::string CsvText(std::string_view text);

// A word for a POSIX shell, to be pasted into one: as it is where it is harmless, else quoted.
std::string ShellWord(std::string_view text);

}  // namespace xlaprof
