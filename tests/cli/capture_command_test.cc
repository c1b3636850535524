// Tests `xlaprof capture` on programs that run beside the test.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "profiler/store/store.h"
#include "serve/server.h"
#include "tests/run_program.h"
#include "tests/serve/busy_program.h"

namespace xlaprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CaptureCommand : public ProgramTest {
 protected:
  int64_t Ask(const char* sql) {
    Store store = *Store::Open(folder_ / "run.xlaprof");
    return store.One<int64_t>(sql)->value_or(-1);
  }
};

TEST_F(CaptureCommand, KeepsARunInAStore) {
  auto server = *StartServer(0);
  BusyProgram program;
  const Ran ran =
      Run(fmt::format("capture 127.0.0.1:{} --duration 200ms --delay 100ms", server->port()));
  ASSERT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("run.xlaprof: "), HasSubstr("1 file read"),
                             HasSubstr("xlaprof report run.xlaprof\n")));
  EXPECT_GT(Ask("SELECT count(*) FROM step"), 3);
  const Ran report = Run("report run.xlaprof");
  EXPECT_EQ(report.status, 0);
  EXPECT_THAT(report.out, HasSubstr(fmt::format("127.0.0.1:{} (xspace", server->port())));
  // No existing file is replaced unless the user asks for it.
  EXPECT_THAT(Run(fmt::format("capture 127.0.0.1:{} --duration 10ms", server->port())).out,
              HasSubstr("run.xlaprof: already exists. Choose another name, or pass --force"));
}

TEST_F(CaptureCommand, KeepsWhatArrivedWhereOneHostIsMissing) {
  auto first = *StartServer(0);
  const int gone = (*StartServer(0))->port();
  BusyProgram program;
  const Ran ran = Run(fmt::format("capture 127.0.0.1:{} 127.0.0.1:{} --duration 100ms --retry 1",
                                  first->port(), gone));
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("1 of 2 hosts captured"), HasSubstr("1 file read"),
                             HasSubstr(fmt::format("127.0.0.1:{}: no profiler server", gone))));
  EXPECT_EQ(Ask("SELECT count(*) FROM source"), 1);
}

TEST_F(CaptureCommand, TwoProgramsAreOneRun) {
  auto own = *StartServer(0);
  const int port = (*StartServer(0))->port();
  BusyProgram program;
  const Ran ran = RunShell(
      fmt::format(
          "{{ XLAPROF_SERVE={0} {1} 3 >/dev/null 2>served.txt & {2} capture "
          "127.0.0.1:{0} 127.0.0.1:{3} --duration 100ms --retry 30; s=$?; wait; (exit $s); }}",
          port, XLAPROF_SERVED_PROGRAM, XLAPROF_PROGRAM, own->port()),
      folder_);
  ASSERT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(Content("served.txt"), HasSubstr(fmt::format("xlaprof capture localhost:{}", port)));
  EXPECT_EQ(Ask("SELECT count(*) FROM source WHERE imported"), 2);
  EXPECT_EQ(Ask("SELECT count(*) FROM process"), 2);
  EXPECT_EQ(Ask("SELECT count(*) FROM run"), 1);
}

// The kernels of our own runtime are parts of its executions.
TEST_F(CaptureCommand, CountsTheExecutionsOfATraining) {
  const int port = (*StartServer(0))->port();
  const Ran ran = RunShell(
      fmt::format("{{ XLAPROF_SERVE={0} {1} 60 >/dev/null 2>served.txt & {2} capture 127.0.0.1:{0} "
                  "--delay 500ms --duration 500ms --retry 30; s=$?; kill $!; wait; (exit $s); }}",
                  port, XLAPROF_SERVED_TRAINING, XLAPROF_PROGRAM),
      folder_);
  ASSERT_EQ(ran.status, 0) << ran.out;
  const auto steps = double(Ask("SELECT count(*) FROM step"));
  EXPECT_GT(steps, 4);
  // The host may be ahead of the device by some steps.
  EXPECT_NEAR(double(Ask("SELECT count(*) FROM execution")), steps, 2 + steps / 4);
}

TEST_F(CaptureCommand, NothingIsLeftWhereNobodyAnswers) {
  const int gone = (*StartServer(0))->port();
  const Ran ran = Run(fmt::format("capture 127.0.0.1:{} -o sub.xlaprof", gone));
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, HasSubstr("connection refused"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "sub.xlaprof"));
}

// Regression: it first recorded the program for a minute, and then threw the profile away.
TEST_F(CaptureCommand, LooksFirstWhereItsStoreGoes) {
  auto server = *StartServer(0);
  const std::string capture =
      fmt::format("capture 127.0.0.1:{} --duration 60s -o ", server->port());
  EXPECT_THAT(Run(capture + "no/folder/run.xlaprof").out,
              HasSubstr("no/folder/run.xlaprof: cannot be created: No such file or directory"));
  Write("file", "");
  EXPECT_THAT(Run(capture + "file/run.xlaprof").out,
              HasSubstr("cannot be created: Not a directory"));
  EXPECT_THAT(Run(capture + "/proc/run.xlaprof").out, HasSubstr("/proc/run.xlaprof: cannot be"));
}

// A captured profile is worth more than the store that could not be written.
TEST_F(CaptureCommand, KeepsTheProfilesWhereTheStoreCannotBeWritten) {
  auto server = *StartServer(0);
  BusyProgram program;
  ASSERT_EQ(RunShell("mkdir tmp", folder_).status, 0);
  // The profile fits within the limit, but the store does not.
  const std::string capture = fmt::format("capture 127.0.0.1:{} --duration 100ms", server->port());
  const Ran ran = Run(capture, "ulimit -f 200; TMPDIR=$PWD/tmp");
  EXPECT_EQ(ran.status, 2);
  ASSERT_THAT(ran.out, AllOf(HasSubstr("(ulimit -f)"), HasSubstr("What arrived is in ")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run.xlaprof"));
  const std::string kept = ran.out.substr(ran.out.rfind("xlaprof report ") + 15);
  EXPECT_THAT(kept, HasSubstr("/tmp/xlaprof-capture-"));
  EXPECT_THAT(Run("import -o later.xlaprof " + kept.substr(0, kept.find('\n'))).out,
              HasSubstr("1 file read"));
  ASSERT_EQ(RunShell("rm -r tmp/*", folder_).status, 0);
  // In a normal run, nothing is left there.
  EXPECT_EQ(Run(capture, "TMPDIR=$PWD/tmp").status, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "tmp"));
}

TEST_F(CaptureCommand, KeepsTheAnswersForOtherTools) {
  auto server = *StartServer(0);
  BusyProgram program;
  const std::string capture =
      fmt::format("capture 127.0.0.1:{} --duration 100ms --keep ", server->port());
  Write("file", "thesis");
  EXPECT_EQ(Run(capture + "file").status, 2);
  EXPECT_EQ(Content("file"), "thesis");
  const Ran ran = Run(capture + "kept");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("the hosts' answers are in kept"));
  const Ran files = RunShell("find kept -type f", folder_);
  EXPECT_THAT(files.out,
              testing::MatchesRegex(fmt::format(
                  "kept/plugins/profile/[0-9_]+/127.0.0.1_{}.xplane.pb\n", server->port())));
}

// One host of a job hangs, and the user gives up when the other host's profile has arrived.
TEST_F(CaptureCommand, KeepsWhatArrivedBeforeItIsEnded) {
  auto server = *StartServer(0);
  BusyProgram program;
  const int silent = socket(AF_INET, SOCK_STREAM, 0);  // accepts connections but stays silent
  sockaddr_in address{.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(silent, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(silent, 8), 0);
  getsockname(silent, reinterpret_cast<sockaddr*>(&address), &size);
  ASSERT_EQ(RunShell("mkdir tmp", folder_).status, 0);
  const int port = ntohs(address.sin_port);
  const Ran ran = RunShell(
      fmt::format("true\nexport TMPDIR=$PWD/tmp\n{} capture 127.0.0.1:{} 127.0.0.1:{} --duration "
                  "100ms --retry 100 >out.txt 2>&1 & pid=$!\n"
                  "until ls tmp/*/0/*.pb >/dev/null 2>&1 || ! kill -0 $pid; do sleep 0.05; done\n"
                  "kill $pid; wait $pid; cat out.txt",
                  XLAPROF_PROGRAM, server->port(), port),
      folder_);
  close(silent);
  EXPECT_THAT(ran.out, AllOf(HasSubstr(fmt::format("127.0.0.1:{}: did not answer", port)),
                             HasSubstr("1 of 2 hosts captured"), HasSubstr("1 file read")));
  EXPECT_EQ(Ask("SELECT count(*) FROM source WHERE imported"), 1);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "tmp"));
}

TEST_F(CaptureCommand, WhatCannotBeMeant) {
  EXPECT_THAT(Run("capture localhost").out, HasSubstr("is not HOST:PORT"));
  EXPECT_THAT(Run("capture a:1 a:1").out, HasSubstr("a:1: is named twice"));
  EXPECT_THAT(Run("capture a:1 --duration 5").out,
              HasSubstr("Give a number with its unit, such as 5s"));
  EXPECT_THAT(Run("capture a:1 --delay 2h").out, HasSubstr("2h"));
  EXPECT_EQ(Run("capture").status, 2);
}

}  // namespace
}  // namespace xlaprof
