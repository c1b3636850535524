// Tests which numbers options accept.
#include "cli/number_options.h"

#include <gmock/gmock.h>

#include "tests/run_program.h"

namespace xlaprof {
namespace {

using testing::HasSubstr;

TEST(NumberOptions, WholeNumbers) {
  auto check = WholeNumber(1, 100);
  for (std::string text : {"1", "7", "100"}) EXPECT_EQ(check(text), "") << text;
  for (std::string text : {"", "0", "-1", "101", "abc", "1.5", "1e1", "nan", "inf", "0x10", "010",
                           "+1", " 1", "1 ", "99999999999999999999"})
    EXPECT_EQ(check(text), fmt::format("'{}' is not a whole number from 1 to 100", text));
}

TEST(NumberOptions, RealNumbers) {
  auto check = RealNumber(0.5, 1e6);
  for (std::string text : {"0.5", "1", "1e6", "2.5e3"}) EXPECT_EQ(check(text), "") << text;
  for (std::string text : {"", "0.4", "-1", "1e7", "abc", "nan", "NaN", "-nan", "inf", "-inf",
                           "infinity", "1e999", "1s", "0x1p3"})
    EXPECT_EQ(check(text), fmt::format("'{}' is not a number from 0.5 to 1000000", text));
}

class NumberOptionsOfCommands : public ProgramTest {};

// Regression: `stacks abc` printed 309 digits, and `run --duration nan` was accepted.
TEST_F(NumberOptionsOfCommands, RefuseWhatIsNoNumber) {
  for (const char* command :
       {"stacks {}", "stacks 1 --timeout {}", "run --duration {} -- true", "view x --port {}"}) {
    for (const char* value : {"abc", "nan", "inf", "-1"}) {
      const Ran ran = Run(fmt::format(fmt::runtime(command), value));
      EXPECT_EQ(ran.status, std::string_view(command).starts_with("run") ? 125 : 2)
          << command << value;
      EXPECT_LT(ran.out.size(), 200u) << ran.out;
      EXPECT_THAT(ran.out, HasSubstr(fmt::format("'{}' is not a", value))) << command;
    }
  }
}

}  // namespace
}  // namespace xlaprof
