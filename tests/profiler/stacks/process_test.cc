// Tests what is read of /proc, why a process may not be looked into, and how tools are run.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_folder.h"
#include "profiler/stacks/process_tree.h"
#include "profiler/stacks/ptrace.h"
#include "profiler/stacks/run_tool.h"

namespace xlaprof::stacks {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kSecondNs = 1'000'000'000;

// A folder like /proc.
class Proc : public testing::Test {
 protected:
  void Add(int64_t pid, int64_t parent, const std::string& arguments,
           const std::string& environment = "", char state = 'S') {
    Write(pid, "stat", fmt::format("{} (a ) name) {} {} 1 1", pid, state, parent));
    Write(pid, "status",
          fmt::format("Name:\tx\nTgid:\t{0}\nTracerPid:\t0\nUid:\t7\t7\t7\t7\nNSpid:\t{0}\t5\n",
                      pid));
    Write(pid, "cmdline", arguments);
    Write(pid, "environ", environment);
  }
  void Write(int64_t pid, const std::string& name, const std::string& text) {
    fs::create_directories(path() / fmt::to_string(pid));
    std::ofstream(path() / fmt::to_string(pid) / name, std::ios::binary) << text;
  }
  fs::path path() const { return folder_->path(); }
  absl::StatusOr<TemporaryFolder> folder_ = TemporaryFolder::Make("stacks");
};

TEST_F(Proc, DescendantsFollowTheirParents) {
  using namespace std::string_literals;
  Add(10, 1, "torchrun\0train.py\0"s);
  Add(20, 10, "python\0train.py\0"s, "RANK=0\0LOCAL_RANK=0\0"s);
  Add(12, 10, "python\0train.py\0"s, "VIRTUAL_ENV=/env\0RANK=1\0LOCAL_RANK=1\0"s, 'D');
  Add(30, 20, "worker\0"s, "RANK=x\0"s, 'Z');
  Add(40, 1, "other\0"s);
  const auto tree = ProcessTree(10, path());
  ASSERT_TRUE(tree.ok()) << tree.status();
  std::vector<std::string> seen;
  for (const ProcessInfo& process : *tree)
    seen.push_back(fmt::format("{} {} {} {} {}", process.pid, process.depth, process.state,
                               process.rank.value_or(-1), process.command));
  EXPECT_THAT(seen, ElementsAre("10 0 S -1 torchrun train.py", "12 1 D 1 python train.py",
                                "20 1 S 0 python train.py", "30 2 Z -1 worker"));
  EXPECT_EQ(tree->front().uid, 7);
  EXPECT_EQ(tree->front().own_pid, 5);
  EXPECT_THAT((*tree)[1].environment_bins, ElementsAre("/env/bin"));
}

TEST_F(Proc, AThreadStandsForItsProcess) {
  Add(10, 1, "a");
  Write(11, "status", "Name:\tx\nTgid:\t10\n");
  const auto tree = ProcessTree(11, path());
  ASSERT_TRUE(tree.ok()) << tree.status();
  EXPECT_EQ(tree->front().pid, 10);
}

TEST_F(Proc, AProcessThatIsNotThereIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(ProcessTree(10, path()).status()));
  Write(10, "stat", "10 (cut");
  EXPECT_TRUE(absl::IsNotFound(ProcessTree(10, path()).status()));
}

TEST(Ptrace, AProcessMayLookIntoItself) {
  EXPECT_EQ(MayLookInto(getpid()), true);
  EXPECT_EQ(MayLookInto(int64_t(1) << 30), std::nullopt);
}

TEST(Ptrace, EachReasonHasAWayOut) {
  const std::string command = "xlaprof stacks 12";
  const PtraceFacts same{.uid = 7, .target_uid = 7};
  auto with_scope = [&](int scope) {
    PtraceFacts facts = same;
    facts.ptrace_scope = scope;
    return WhyForbidden(facts, command);
  };
  EXPECT_THAT(with_scope(1),
              HasSubstr("ptrace_scope is 1, which allows it only to a process's own ancestors"));
  EXPECT_THAT(with_scope(1), HasSubstr("`sudo env \"PATH=$PATH\" xlaprof stacks 12`"));
  EXPECT_THAT(with_scope(2),
              HasSubstr("ptrace_scope is 2, which allows it only with the capability"));
  EXPECT_THAT(with_scope(3), HasSubstr("ptrace_scope is 3, which allows it to nobody"));
  EXPECT_THAT(with_scope(3), testing::Not(HasSubstr("sudo")));
  EXPECT_THAT(with_scope(0), HasSubstr("PR_SET_DUMPABLE"));
  EXPECT_THAT(WhyForbidden({.uid = 7, .target_uid = 0}, command),
              HasSubstr("belongs to user 0, and this is user 7"));
  EXPECT_THAT(WhyForbidden({.uid = 7, .target_uid = 7, .tracer_pid = 99}, command),
              HasSubstr("Process 99 is attached"));
  EXPECT_THAT(WhyForbidden({.uid = 0, .target_uid = 7, .may_get_capability = false}, command),
              HasSubstr("docker run --cap-add SYS_PTRACE"));
}

TEST(Tool, OutputAndStatusAreRead) {
  const auto output = RunTool({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}, 60 * kSecondNs);
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(output->status, 3);
  EXPECT_EQ(output->out, "out\n");
  EXPECT_EQ(output->err, "err\n");
  EXPECT_FALSE(output->timed_out);
}

TEST(Tool, AToolThatHangsIsEnded) {
  const auto output =
      RunTool({"/bin/sh", "-c", "echo begun; trap '' TERM; sleep 600; sleep 600"}, kSecondNs / 10);
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_TRUE(output->timed_out);
  EXPECT_EQ(output->status, -1);
}

TEST(Tool, MuchOutputDoesNotBlockIt) {
  const auto output =
      RunTool({"/bin/sh", "-c", "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2"},
              60 * kSecondNs);
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(output->out.size(), 3'000'000u);
  EXPECT_EQ(output->err.size(), 3'000'000u);
}

TEST(Tool, OneThatIsMissingIsAnError) {
  EXPECT_FALSE(RunTool({"/no/such/tool"}, kSecondNs).ok());
  EXPECT_EQ(FindTool("no-such-tool"), "");
}

// A folder of another program may hold anything.
TEST(Tool, OnlyFilesThatNobodyElseCanWriteAreTakenFromOthersFolders) {
  auto folder = TemporaryFolder::Make("stacks");
  const fs::path tool = folder->path() / "a-tool";
  std::ofstream(tool) << "#!/bin/sh\n";
  chmod(tool.c_str(), 0755);
  const std::vector<fs::path> more = {folder->path()};
  EXPECT_EQ(FindTool("a-tool", more), tool);
  chmod(tool.c_str(), 0777);
  EXPECT_EQ(FindTool("a-tool", more), "");
}

}  // namespace
}  // namespace xlaprof::stacks
