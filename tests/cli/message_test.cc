// Tests commands whose standard output or standard error cannot be written.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <sstream>
#include <vector>

#include "profiler/store/store.h"
#include "tests/run_program.h"

namespace xlaprof {
namespace {

using testing::HasSubstr;

enum class Stream { kGood, kClosed, kFull, kBroken };

class Messages : public ProgramTest {
 protected:
  Messages() { EXPECT_TRUE(Store::Create(folder_ / "run.xlaprof").ok()); }

  static void Spoil(int fd, Stream how) {
    int ends[2] = {-1, -1};
    switch (how) {
      case Stream::kGood:
        dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), fd);
        break;
      case Stream::kClosed:
        close(fd);
        break;
      case Stream::kFull:
        dup2(open("/dev/full", O_WRONLY | O_CLOEXEC), fd);
        break;
      case Stream::kBroken:
        if (pipe2(ends, O_CLOEXEC) != 0) _exit(99);
        close(ends[0]);
        dup2(ends[1], fd);
        break;
    }
  }

  // Returns the exit status, or minus the signal that ended the program.
  int StatusOf(const std::string& command, Stream out, Stream err, sighandler_t on_sigpipe) {
    std::filesystem::remove_all(folder_ / "D");
    std::vector<std::string> words{XLAPROF_PROGRAM};
    std::istringstream text(command);
    for (std::string word; text >> word;) words.push_back(word);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      if (chdir(folder_.c_str()) != 0) _exit(99);
      std::signal(SIGPIPE, on_sigpipe);
      Spoil(STDOUT_FILENO, out);
      Spoil(STDERR_FILENO, err);
      execv(arguments[0], arguments.data());
      _exit(98);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
};

// Regression: 12 of 17 forms ended with SIGABRT, and `run` lost the status of its command.
TEST_F(Messages, ThatCannotBeWrittenChangeNoStatus) {
  Write("exits.sh", "exit 7\n");
  for (const std::string command :
       {"report nofile", "report run.xlaprof", "report run.xlaprof --nonsense",
        "run -o D -- sh exits.sh", "run -o D -- no_such_program", "run --nonsense",
        "export run.xlaprof --format chrome -o -", "export nofile --format chrome -o out",
        "import nofile -o out", "query run.xlaprof select", "view nofile", "recover nofile",
        "recover run.xlaprof", "stacks 2147483647", "--help", "--version", "nonsense"}) {
    const int status = StatusOf(command, Stream::kGood, Stream::kGood, SIG_DFL);
    for (const Stream err : {Stream::kClosed, Stream::kFull, Stream::kBroken}) {
      for (const sighandler_t on_sigpipe : {SIG_DFL, SIG_IGN})
        EXPECT_EQ(StatusOf(command, Stream::kGood, err, on_sigpipe), status)
            << command << " " << int(err);
    }
  }
  EXPECT_EQ(StatusOf("run -o D -- sh exits.sh", Stream::kGood, Stream::kClosed, SIG_DFL), 7);
}

TEST_F(Messages, OutputThatCannotBeWrittenIsAnError) {
  for (const char* command :
       {"--help", "--version", "report --help", "report run.xlaprof", "recover run.xlaprof",
        "query run.xlaprof VALUES(1)", "export run.xlaprof --format chrome -o -"}) {
    EXPECT_EQ(StatusOf(command, Stream::kGood, Stream::kGood, SIG_DFL), 0) << command;
    EXPECT_EQ(StatusOf(command, Stream::kClosed, Stream::kGood, SIG_DFL), 2) << command;
    EXPECT_EQ(StatusOf(command, Stream::kFull, Stream::kGood, SIG_DFL), 2) << command;
    EXPECT_EQ(StatusOf(command, Stream::kBroken, Stream::kGood, SIG_IGN), 2) << command;
    // As any program in a pipeline whose reader has ended.
    EXPECT_EQ(StatusOf(command, Stream::kBroken, Stream::kGood, SIG_DFL), -SIGPIPE) << command;
  }
  // Neither stream can be written.
  EXPECT_EQ(StatusOf("--version", Stream::kFull, Stream::kFull, SIG_DFL), 2);
}

// An endless query ends with its reader.
TEST_F(Messages, AQueryEndsWhenItsOutputCannotBeWritten) {
  const std::string endless =
      "WITH/**/RECURSIVE/**/n(i)AS(VALUES(1)UNION/**/ALL/**/SELECT/**/i+1/**/FROM/**/n)SELECT/**/i/**/FROM/**/n";
  for (const char* format : {"table", "csv", "json"})
    EXPECT_EQ(StatusOf("query run.xlaprof " + endless + " --format " + format, Stream::kFull,
                       Stream::kGood, SIG_DFL),
              2);
}

// Regression: the first file that the program opened became its standard error.
TEST_F(Messages, ACommandSeesTheStreamsThatAreClosed) {
  Write("look.sh",
        "test -e /proc/self/fd/1 && exit 1; test -e /proc/self/fd/2 && exit 2; exit 7\n");
  EXPECT_EQ(StatusOf("run -o D -- sh look.sh", Stream::kClosed, Stream::kClosed, SIG_DFL), 7);
}

// Regression: the report replaced a file that the command wrote to the same directory.
TEST_F(Messages, TheReportOfARunReplacesNothing) {
  Write(
      "train.sh",
      "printf 'Metric: CompileTime\\n  TotalSamples: 1\\n  Accumulator: 01s000ms\\n' >D/metrics.txt\n"
      "test -z \"$1\" || echo mine >D/report.txt\n");
  EXPECT_EQ(Run("run -o D -- sh train.sh").status, 0);
  EXPECT_THAT(Content("D/report.txt"), HasSubstr("compil"));
  std::filesystem::remove_all(folder_ / "D");
  const Ran ran = Run("run -o D -- sh train.sh writes");
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(Content("D/report.txt"), "mine\n");
  EXPECT_THAT(ran.out, HasSubstr("is the command's own file"));
}

}  // namespace
}  // namespace xlaprof
