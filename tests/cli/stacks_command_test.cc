// Tests `xlaprof stacks` on programs that hang, with stand-ins for py-spy and gdb that print what the
// real ones printed, and what `recover` and `report` say of a program that was killed while it hung.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/run_program.h"

namespace xlaprof {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Stacks : public ProgramTest {
 protected:
  ~Stacks() override {
    for (const pid_t pid : started_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }
  // Starts a program that prints a line when it hangs. Returns its process id.
  pid_t Start(const std::vector<std::string>& arguments, const std::string& variable = "") {
    const std::filesystem::path out = folder_ / fmt::format("out{}", started_.size());
    std::fflush(stdout);  // what waits to be written would be written twice
    const pid_t pid = fork();
    if (pid == 0) {
      if (!variable.empty()) putenv(strdup(variable.c_str()));
      if (chdir(folder_.c_str()) != 0 || freopen(out.c_str(), "w", stdout) == nullptr) _exit(1);
      std::vector<char*> argv;
      for (const std::string& argument : arguments) argv.push_back(strdup(argument.c_str()));
      argv.push_back(nullptr);
      execv(argv[0], argv.data());
      _exit(1);
    }
    started_.push_back(pid);
    for (int i = 0; i < 6000 && Content(out.filename()).empty(); ++i) usleep(10'000);
    return pid;
  }
  pid_t StartRecorded() {
    return Start({XLAPROF_RECORDED_PROGRAM, "hang"}, "XLAPROF_RECORD=run.xlaprof");
  }
  pid_t StartPython(const std::string& rank = "") {
    return Start(
        {"/usr/bin/python3", "-c", "print('hangs', flush=True); import time; time.sleep(600)"},
        rank);
  }
  void Tool(const std::string& name, const std::string& script) {
    Write("bin/" + name, "#!/bin/sh\n" + script + "\n");
    chmod((folder_ / "bin" / name).c_str(), 0755);
  }
  void ToolThatPrints(const std::string& name, const std::string& output) {
    Tool(name,
         fmt::format(
             "echo \"$0 $*\" >>'{0}/calls'\nexec /bin/cat '{1}/tests/profiler/stacks/outputs/{2}'",
             folder_.string(), XLAPROF_SOURCE_DIR, output));
  }
  // Only the folder of the test's tools is on PATH.
  Ran RunStacks(pid_t pid, const std::string& options = "") {
    return Run(fmt::format("stacks {} {}", pid, options),
               fmt::format("PATH={}/bin", folder_.string()));
  }
  static std::vector<std::string> ScopesOf(const Json& threads) {
    std::vector<std::string> lines;
    for (const Json& thread : threads) {
      std::string line = thread["thread"];
      for (const Json& scope : thread["scopes"]) {
        line += fmt::format(" > {}", scope["name"].get<std::string>());
        if (!scope["step"].is_null()) line += fmt::format(" {}", scope["step"].get<int64_t>());
        EXPECT_GE(scope["open_ns"].get<int64_t>(), 100'000'000);
        EXPECT_LT(scope["open_ns"].get<int64_t>(), 600'000'000'000);
        EXPECT_TRUE(scope["file"].get<std::string>().ends_with("recorded_program.cc"));
      }
      lines.push_back(line);
    }
    return lines;
  }
  std::vector<pid_t> started_;
};

TEST_F(Stacks, OfCppAreReadByGdbWithTheOpenScopes) {
  ToolThatPrints("gdb", "gdb_cpp.txt");
  const pid_t pid = StartRecorded();
  Ran ran = RunStacks(pid, "--format json");
  ASSERT_EQ(ran.status, 0) << ran.out;
  const Json json = Json::parse(ran.out);
  ASSERT_EQ(json["processes"].size(), 1u);
  const Json& process = json["processes"][0];
  EXPECT_EQ(process["pid"], pid);
  EXPECT_EQ(process["tool"], "gdb");
  EXPECT_TRUE(process["error"].is_null());
  EXPECT_THAT(ScopesOf(process["open_scopes"]),
              ElementsAre("main > epoch > train 41 > allreduce", "loader > load"));
  ASSERT_EQ(json["groups"].size(), 2u);
  EXPECT_EQ(json["groups"][1]["threads"].size(), 2u);
  EXPECT_EQ(json["groups"][1]["idle"], true);
  ran = RunStacks(pid);
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, testing::ContainsRegex(
                           "thread main: epoch \\(.*\\) > train 41 \\(.*\\) > allreduce \\("));
  EXPECT_THAT(ran.out, HasSubstr("hang.cc:9 (anonymous namespace)::Reduce"));
}

TEST_F(Stacks, OfPythonAreReadByPySpyIfItIsThere) {
  ToolThatPrints("py-spy", "py_spy.json");
  ToolThatPrints("gdb", "gdb_cpp.txt");
  const pid_t pid = StartPython("RANK=3");
  Ran ran = RunStacks(pid);
  ASSERT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(Content("calls"), HasSubstr(fmt::format("py-spy dump --json --pid {}\n", pid)));
  EXPECT_THAT(Content("calls"), Not(HasSubstr("gdb")));
  EXPECT_THAT(ran.out, HasSubstr("/home/ana/st_hang.py:6 allreduce"));
  EXPECT_THAT(ran.out, HasSubstr("3 threads: loader-2, loader-1 and loader-0"));
  ran = RunStacks(pid, "--format json");
  const Json json = Json::parse(ran.out);
  EXPECT_EQ(json["processes"][0]["rank"], 3);
  EXPECT_TRUE(json["processes"][0]["open_scopes"].is_null());
  ASSERT_EQ(json["groups"].size(), 3u);
  EXPECT_EQ(json["groups"][0]["threads"][0]["main"], true);
  EXPECT_EQ(json["groups"][0]["frames"][2]["line"], 6);
  EXPECT_EQ(json["groups"][2]["idle"], true);
}

TEST_F(Stacks, GdbTakesOverIfPySpyFails) {
  Tool("py-spy", "echo 'Error: no version' >&2; exit 1");
  ToolThatPrints("gdb", "gdb_python.txt");
  const Ran ran = RunStacks(StartPython());
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("/home/ana/hang2.py:4 step"));
}

TEST_F(Stacks, WithoutToolsTheScopesAreNamedAndTheStatusIsTwo) {
  const Ran ran = RunStacks(StartRecorded());
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, HasSubstr("> train 41 ("));
  EXPECT_THAT(ran.out, HasSubstr("pip install py-spy"));
  EXPECT_THAT(ran.out, HasSubstr("apt-get install gdb"));
  const Ran python = RunStacks(StartPython());
  EXPECT_EQ(python.status, 2);
  EXPECT_THAT(python.out, HasSubstr("pip install py-spy"));
}

TEST_F(Stacks, AToolThatHangsIsEnded) {
  Tool("gdb", "exec /bin/sleep 600");
  const Ran ran = RunStacks(StartRecorded(), "--timeout 0.3");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, HasSubstr("--timeout sets a longer time"));
}

TEST_F(Stacks, OfNoProcessAreAnError) {
  ToolThatPrints("gdb", "gdb_cpp.txt");
  for (const char* pid : {"99999999", "0", "-1", "x", "99999999999999999999"}) {
    const Ran ran = Run(fmt::format("stacks {}", pid));
    EXPECT_EQ(ran.status, 2) << pid;
    EXPECT_NE(ran.out, "");
  }
  const pid_t ended = fork();
  if (ended == 0) _exit(0);
  usleep(50'000);
  EXPECT_EQ(RunStacks(ended).status, 2);  // a zombie
  waitpid(ended, nullptr, 0);
  EXPECT_EQ(RunStacks(ended).status, 2);
}

// The recording goes on as if nobody had looked.
TEST_F(Stacks, AKilledProgramsScopesAreInTheReport) {
  const pid_t pid = StartRecorded();
  EXPECT_THAT(RunStacks(pid).out, HasSubstr("allreduce ("));
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  const auto scopes = testing::ContainsRegex(
      "thread main: epoch \\(.*\\) > train 41 \\(.*\\) > allreduce \\(.*\\), at .*recorded_program.cc:");
  Ran ran = Run("report run.xlaprof --format json");
  ASSERT_EQ(ran.status, 0) << ran.out;
  const Json json = Json::parse(ran.out.substr(0, ran.out.rfind('}') + 1));  // a warning follows
  EXPECT_THAT(ScopesOf(json["summary"]["open_at_kill"]),
              ElementsAre("main > epoch > train 41 > allreduce", "loader > load"));
  for (const char* format : {"text", "markdown"}) {
    ran = Run(fmt::format("report run.xlaprof --format {}", format), "COLUMNS=160");
    EXPECT_EQ(ran.status, 0);
    std::string text = ran.out;
    std::erase(text, '\\');  // Markdown
    EXPECT_THAT(text, HasSubstr("Open when the process was killed")) << format;
    EXPECT_THAT(text, HasSubstr("thread main: epoch (")) << format;
  }
  ran = Run("recover run.xlaprof");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, scopes);
  ran = Run("report run.xlaprof", "COLUMNS=160");
  EXPECT_THAT(ran.out, HasSubstr("> train 41 ("));
}

}  // namespace
}  // namespace xlaprof
