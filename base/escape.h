// Escapes text from outside for the place where it is shown. A name in a capture may hold anything
// and must stay a name. There is one function per place; each returns valid UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace xlaprof {

// A character of a UTF-8 text. If the bytes are not valid UTF-8, code is -1 and bytes is 1.
struct Character {
  int32_t code = -1;
  int bytes = 1;
};
// Returns the character at offset `at` of `text`; `at` must lie inside it.
Character CharacterAt(std::string_view text, size_t at);

// Returns bytes that are not text as two lower-case hexadecimal digits each.
std::string Hex(std::string_view bytes);

// Escapes text for a terminal. Control characters, characters that change the direction of writing
// or show nothing, and invalid bytes become \n, \t, \x1b, \u202e, \U000e0001 or \xff. Real line
// ends stay if `keep_newlines` is set.
std::string Printable(std::string_view text, bool keep_newlines = false);

// Escapes text for GitHub's Markdown, in running text, table cells and HTML blocks, so that it
// makes no markup, no links and no mentions of people.
std::string MarkdownText(std::string_view text);

// Returns a fenced block of Markdown that nothing in `body` closes. `body` must be printable
// already.
std::string MarkdownFenced(std::string_view language, std::string_view body);

// Escapes what would steer a terminal (DEL, C1, bidi) or show nothing. `json` must be valid JSON
// already.
std::string TerminalSafeJson(std::string json);

// Says whether a CSV field may begin like a formula of a spreadsheet, with one of = + - @ tab CR.
enum class CsvTexts : uint8_t {
  kNoFormulas,  // such text gets a ' before it
  kExact,
};

// Returns a CSV field (RFC 4180). Invalid UTF-8 becomes U+FFFD.
std::string CsvText(std::string_view text, CsvTexts texts = CsvTexts::kNoFormulas);

// Returns `text` as a word to be pasted into a POSIX shell: unchanged if it is harmless, quoted
// otherwise.
std::string ShellWord(std::string_view text);

}  // namespace xlaprof
