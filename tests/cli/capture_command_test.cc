// `xlaprof capture` of programs that run beside the test.
#include <gmock/gmock.h>

#include <thread>

#include "profiler/serve/server.h"
#include "profiler/store/store.h"
#include "tests/run_program.h"
#include "tests/profiler/serve/busy_program.h"

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
  // Neither is replaced unasked.
  EXPECT_THAT(Run(fmt::format("capture 127.0.0.1:{} --duration 10ms", server->port())).out,
              HasSubstr("run.xlaprof: is there already"));
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

TEST_F(CaptureCommand, NothingIsLeftWhereNobodyAnswers) {
  const int gone = (*StartServer(0))->port();
  const Ran ran = Run(fmt::format("capture 127.0.0.1:{} -o sub.xlaprof", gone));
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, HasSubstr("connection refused"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "sub.xlaprof"));
}

TEST_F(CaptureCommand, WhatCannotBeMeant) {
  EXPECT_THAT(Run("capture localhost").out, HasSubstr("is no HOST:PORT"));
  EXPECT_THAT(Run("capture a:1 a:1").out, HasSubstr("a:1: is named twice"));
  EXPECT_THAT(Run("capture a:1 --duration 5").out, HasSubstr("Say it with its unit: 5s"));
  EXPECT_THAT(Run("capture a:1 --delay 2h").out, HasSubstr("2h"));
  EXPECT_EQ(Run("capture").status, 2);
}

}  // namespace
}  // namespace xlaprof
