#include "tests/hostile/hostile_text.h"

namespace xlaprof {

using namespace std::string_literals;

const std::vector<std::string>& HostileNames() {
  static const std::vector<std::string> names = {
      "\x1b[2J\x1b[31mred\x1b]0;title\x07",            // clears the screen and sets the title
      "\xc2\x9b"s + "31m",                             // the same with a C1 control
      "\x9b" + "31m"s,                                 // the same control as a bare byte
      "back\b\b\bspace\rreturn\x7f",                   // moves the cursor
      "right\xe2\x80\xae" + "left"s,                   // reverses the direction of what follows
      "zero\xe2\x80\x8bwidth\xef\xbb\xbf",             // a space without width
      "nul\0nul"s,                                     // ends early as a C string
      "\xff\xfe\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80",  // invalid UTF-8
      "cut\xe2\x82",                                   // ends inside a character
      "'; DROP TABLE event; --",                       // ends a string of SQL
      "\"quoted\\\"",                                  // ends a string of JSON
      "a|b|c\n| - | - |\n```\n# head",                 // ends a table and a fence
      "<script>alert(1)</script>&amp;<!--",            // HTML
      "[link](javascript:x) @user #1 ![i](u)",         // Markdown
      "=cmd|' /C calc'!A0",                            // a formula of a spreadsheet
      "-2+3+cmd",                                      // the same
      "@SUM(1)",                                       // the same
      "{}{0}{:>99999999}",                             // a format string
      "%s%n%1000000d",                                 // a format string of C
      "../../../../etc/passwd",                        // leaves the directory
      "$(reboot)`reboot`",                             // commands of a shell
      std::string(70'000, 'x'),                        // longer than a 16-bit length
      std::string(5000, ' '),                          // nothing to see
      "",                                              // empty
  };
  return names;
}

const std::vector<std::string>& HostileNumbers() {
  static const std::vector<std::string> numbers = {"0",
                                                   "-1",
                                                   "-0",
                                                   "1",
                                                   "2147483647",
                                                   "2147483648",
                                                   "4294967295",
                                                   "4294967296",
                                                   "9007199254740993",
                                                   "9223372036854775807",
                                                   "9223372036854775808",
                                                   "-9223372036854775808",
                                                   "-9223372036854775809",
                                                   "18446744073709551615",
                                                   "18446744073709551616",
                                                   "99999999999999999999999999999999999999",
                                                   "1e308",
                                                   "1e309",
                                                   "1e-400",
                                                   "nan",
                                                   "inf",
                                                   "-inf",
                                                   "0x7fffffffffffffff",
                                                   "0.000000000000000000000000001",
                                                   "1.",
                                                   ".",
                                                   "1e",
                                                   "",
                                                   std::string(400, '9'),
                                                   "1_000",
                                                   "\xd9\xa1\xd9\xa2"};  // Arabic digits
  return numbers;
}

std::string Nested(std::string_view opening, size_t depth) {
  std::string out;
  out.reserve(opening.size() * depth);
  for (size_t i = 0; i < depth; ++i) out += opening;
  return out;
}

}  // namespace xlaprof
