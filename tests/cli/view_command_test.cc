#include <fmt/format.h>
#include <gmock/gmock.h>

#include <sstream>

#include "tests/run_program.h"

namespace xlaprof {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class ViewCommand : public ProgramTest {
 protected:
  // Returns what the command prints until it waits for Ctrl-C; a signal then ends it.
  Ran View(const std::string& environment) {
    return RunShell(
        fmt::format("rm -f out.txt\nenv -u DISPLAY -u WAYLAND_DISPLAY -u SSH_CONNECTION {} {} view "
                    "'{}/tests/golden/captures/jax_recompile' >out.txt & pid=$!\n"
                    "until grep -qs Ctrl-C out.txt || ! kill -0 $pid; do sleep 0.02; done\n"
                    "kill $pid; wait $pid; status=$?; cat out.txt; (exit $status)",
                    environment, XLAPROF_PROGRAM, XLAPROF_SOURCE_DIR),
        folder_);
  }
};

TEST_F(ViewCommand, TellsTheAddress) {
  const Ran ran = View("");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("http://127.0.0.1:"));
  EXPECT_THAT(ran.out, HasSubstr("open this in a browser on this machine"));
  EXPECT_THAT(ran.out, Not(HasSubstr("ssh")));
}

// Regression: other users of the machine could read the run's address in the arguments of xdg-open.
TEST_F(ViewCommand, TheBrowsersArgumentsDoNotHoldTheSecret) {
  Write("bin/xdg-open",
        "#!/bin/sh\n{ echo \"$@\"; stat -c %a \"$1\"; cat \"$1\"; } >> "
        "opened.txt.part; mv opened.txt.part opened.txt\n");
  std::filesystem::permissions(folder_ / "bin/xdg-open", std::filesystem::perms::owner_all);
  const Ran ran = RunShell(
      fmt::format(
          "rm -f opened.txt\nenv DISPLAY=:7 PATH={}/bin:$PATH {} view '{}/tests/golden/captures/jax_recompile' "
          ">out.txt & pid=$!\n"
          "until test -e opened.txt || ! kill -0 $pid; do sleep 0.02; done\n"
          "kill $pid; wait $pid; status=$?; cat out.txt; (exit $status)",
          folder_.string(), XLAPROF_PROGRAM, XLAPROF_SOURCE_DIR),
      folder_);
  EXPECT_EQ(ran.status, 0) << ran.out;
  const std::string url = ran.out.substr(0, ran.out.find('\n'));
  EXPECT_THAT(url, testing::StartsWith("http://127.0.0.1:"));
  std::istringstream opened(Content("opened.txt"));
  std::string arguments, mode, page;
  std::getline(opened, arguments);
  std::getline(opened, mode);
  std::getline(opened, page);
  EXPECT_THAT(arguments, testing::EndsWith("/open.html"));
  EXPECT_EQ(mode, "400");
  EXPECT_THAT(page, HasSubstr("url=" + url + "\""));
  EXPECT_FALSE(std::filesystem::exists(arguments));  // it is gone when the command has ended
}

TEST_F(ViewCommand, TellsHowToReachItOverSsh) {
  Ran ran = View("SSH_CONNECTION='10.0.0.9 55555 10.0.0.5 22' USER=ada");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, ContainsRegex("ssh -N -L ([0-9]+):127.0.0.1:[0-9]+ ada@10.0.0.5\n"));
  ran = View("SSH_CONNECTION='fe80::1 55555 fe80::2 2222' USER=");
  EXPECT_THAT(ran.out, ContainsRegex("ssh -N -L [0-9]+:127.0.0.1:[0-9]+ -p 2222 fe80::2\n"));
  ran = View("SSH_CONNECTION=damaged");
  EXPECT_THAT(ran.out, HasSubstr("open this in a browser on this machine"));
}

}  // namespace
}  // namespace xlaprof
