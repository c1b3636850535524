// Tests what is read from strings of Python as repr() prints them.
#include "profiler/import/text/python_string.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

TEST(PythonString, EscapesBecomeCharacters) {
  EXPECT_EQ(FromPythonString(R"(a\n\tb\'c\"d\\e)"), "a\n\tb'c\"d\\e");
  EXPECT_EQ(FromPythonString(R"(\x1b[32mgreen)"), "\x1b[32mgreen");
  EXPECT_EQ(FromPythonString(R"(\q\xzz\x1)"), R"(\q\xzz\x1)");
  EXPECT_EQ(FromPythonString("\\"), "\\");
}

TEST(PythonString, ALineIsOneStringOrNone) {
  for (const char* line :
       {R"('a\nb')", R"("a\nb")", R"(b'a\nb')", R"((b"a\nb",))", R"(  ['a\nb'] )"})
    EXPECT_EQ(LinesOfPythonString(line), "a\nb") << line;
  for (const char* line : {"", "'", "'a'", R"(a\nb)", R"('a\nb)", R"('a\nb")", R"(print('a\nb'))",
                           R"(x = 'a\nb')", R"('a\nb' % x)"})
    EXPECT_EQ(LinesOfPythonString(line), std::nullopt) << line;
}

}  // namespace
}  // namespace xlaprof
