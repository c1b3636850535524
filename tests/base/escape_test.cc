#include "base/escape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xlaprof {
namespace {

using namespace std::string_literals;

TEST(Printable, EscapesWhatMovesTheCursor) {
  EXPECT_EQ(Printable("a\x1b[31mb\rc\x07"), "a\\x1b[31mb\\x0dc\\x07");
  EXPECT_EQ(Printable("a\u009b31mb"), "a\\x9b31mb");  // C1: a control sequence in one character
  EXPECT_EQ(Printable("a\u202eb\u2066c"), "a\\u202eb\\u2066c");  // reverses the text direction
  // These characters are invisible, so two different names could look the same.
  EXPECT_EQ(Printable("a\u00ad\u115f\u180e\u3164\uffa0\ufffb"),
            "a\\xad\\u115f\\u180e\\u3164\\uffa0\\ufffb");
  EXPECT_EQ(Printable("a\U000e0041\U0001d173 \U0001f600"), "a\\U000e0041\\U0001d173 \U0001f600");
  EXPECT_EQ(Printable("a\nb\tc"), "a\\nb\\tc");
  EXPECT_EQ(Printable("a\nb", /*keep_newlines=*/true), "a\nb");
  EXPECT_EQ(Printable("nul\0nul"s), "nul\\x00nul");
}

TEST(Printable, EscapesWhatIsNoUtf8) {
  EXPECT_EQ(Printable("a\xff\xc0\x80z"), "a\\xff\\xc0\\x80z");
  EXPECT_EQ(Printable("cut \xe2\x82"), "cut \\xe2\\x82");
  EXPECT_EQ(Printable("größe €"), "größe €");
  // Text that was escaped once stays the same if it is escaped again.
  EXPECT_EQ(Printable(Printable("\x1b\xff\n")), Printable("\x1b\xff\n"));
}

TEST(MarkdownText, LeavesNoMarkup) {
  EXPECT_EQ(MarkdownText("a|b<i>`c`"), "a&#124;b&#60;i&#62;&#96;c&#96;");
  EXPECT_EQ(MarkdownText("[x](https://y) @z #1"), "&#91;x&#93;(https&#58;//y) &#64;z &#35;1");
  EXPECT_EQ(MarkdownText("snake_case_name _emphasis_"), "snake_case_name &#95;emphasis&#95;");
  EXPECT_EQ(MarkdownText("line\n# head"), "line&#92;n&#35; head");
}

TEST(MarkdownFenced, CannotBeClosedFromWithin) {
  EXPECT_EQ(MarkdownFenced("diff", "- a\n+ ```\n"), "````diff\n- a\n+ ```\n\n````\n");
  EXPECT_EQ(MarkdownFenced("", "x"), "```\nx\n```\n");
}

TEST(TerminalSafeJson, EscapesWhatJsonNeedNot) {
  EXPECT_EQ(TerminalSafeJson("{\"a\": \"\u009b31m\x7f\u202e\"}"),
            "{\"a\": \"\\u009b31m\\u007f\\u202e\"}");
  EXPECT_EQ(TerminalSafeJson("\"\U000e0001\U0001f600\""), "\"\\udb40\\udc01\U0001f600\"");
  EXPECT_EQ(TerminalSafeJson("[\"größe €\", \"\\u001b\"]\n"), "[\"größe €\", \"\\u001b\"]\n");
}

TEST(CsvText, IsNoFormula) {
  EXPECT_EQ(CsvText("=1+1"), "\"'=1+1\"");
  EXPECT_EQ(CsvText("+x"), "\"'+x\"");
  EXPECT_EQ(CsvText("-x"), "\"'-x\"");
  EXPECT_EQ(CsvText("@SUM(1)"), "\"'@SUM(1)\"");
  EXPECT_EQ(CsvText("\t=1"), "\"'\t=1\"");
  EXPECT_EQ(CsvText("\r=1"), "\"'\r=1\"");
  EXPECT_EQ(CsvText("a=1"), "a=1");
}

TEST(CsvText, IsRfc4180) {
  EXPECT_EQ(CsvText("comma, \"quote\""), "\"comma, \"\"quote\"\"\"");
  EXPECT_EQ(CsvText("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(CsvText(""), "\"\"");
  EXPECT_EQ(CsvText("plain"), "plain");
  EXPECT_EQ(CsvText("a\xff"), "a\xef\xbf\xbd");
}

TEST(Hex, IsTwoDigitsAByte) {
  EXPECT_EQ(Hex(std::string_view("\0\x0a\xff~", 4)), "000aff7e");
  EXPECT_EQ(Hex(""), "");
}

TEST(ShellWord, IsOneWord) {
  EXPECT_EQ(ShellWord("runs/2026-11-21.xlaprof"), "runs/2026-11-21.xlaprof");
  EXPECT_EQ(ShellWord("my run; reboot"), "'my run; reboot'");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellWord("a\n\x1b'\\"), "$'a\\012\\033\\'\\\\'");
  EXPECT_EQ(ShellWord("größe"), "'größe'");
  EXPECT_EQ(ShellWord(""), "''");
}

}  // namespace
}  // namespace xlaprof
