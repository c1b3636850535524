// Tests how outputs of py-spy 0.4.3 and gdb 13 are read, which outputs/ holds as they were printed.
#include <gmock/gmock.h>


#include "profiler/stacks/gdb.h"
#include "profiler/stacks/py_spy.h"
#include "tests/read_file.h"

namespace xlaprof::stacks {
namespace {

std::string Printed(const std::string& name) {
  return ReadFile(XLAPROF_SOURCE_DIR "/tests/profiler/stacks/outputs/" + name);
}

TEST(PySpy, ThreadsAndFramesAreRead) {
  const auto stacks = ParsePySpy(Printed("py_spy.json"));
  ASSERT_TRUE(stacks.ok()) << stacks.status();
  ASSERT_EQ(stacks->size(), 5u);
  const ThreadStack& pool = stacks->front();
  EXPECT_EQ(pool.name, "ThreadPoolExecutor-0_0");
  EXPECT_EQ(pool.pid, 23536);
  EXPECT_EQ(pool.tid, 23541);
  EXPECT_FALSE(pool.is_main);
  const ThreadStack& main = stacks->back();
  EXPECT_TRUE(main.is_main);
  EXPECT_EQ(main.is_active, false);
  EXPECT_FALSE(main.holds_gil);
  ASSERT_EQ(main.frames.size(), 6u);
  EXPECT_EQ(main.frames[2], (Frame{"allreduce", "/home/ana/st_hang.py", 6}));
}

TEST(PySpy, OtherTextIsAnError) {
  for (const char* text : {"", "[", "{}", "null", "Error: no"}) EXPECT_FALSE(ParsePySpy(text).ok());
  const auto odd = ParsePySpy(R"([1, {}, {"frames": [2, {"line": "x"}], "pid": "y"}])");
  ASSERT_TRUE(odd.ok());
  ASSERT_EQ(odd->size(), 2u);
  ASSERT_EQ((*odd)[1].frames.size(), 1u);
  EXPECT_EQ((*odd)[1].frames[0], Frame());
}

// Otherwise equal stacks of two processes would differ.
TEST(PySpy, AddressesAreNoNames) {
  const auto stacks =
      ParsePySpy(R"([{"frames": [{"name": "0x7f87e30a3f16", "filename": "/lib/libc.so.6"}]}])");
  ASSERT_TRUE(stacks.ok());
  EXPECT_EQ(stacks->front().frames[0], (Frame{"", "/lib/libc.so.6", 0}));
}

TEST(PySpy, ErrorsAreOneSentence) {
  EXPECT_EQ(
      PySpyError(
          "Error: Failed to find python version from target process\n\nStack backtrace:\n   0: anyhow"),
      "Failed to find python version from target process");
}

TEST(Gdb, FramesOfCppAreRead) {
  const std::vector<ThreadStack> stacks = ParseGdb(Printed("gdb_cpp.txt"), 29388);
  ASSERT_EQ(stacks.size(), 3u);
  const ThreadStack& pool = stacks[0];
  EXPECT_EQ(pool.tid, 29391);
  EXPECT_EQ(pool.name, "hang");
  EXPECT_FALSE(pool.is_main);
  ASSERT_EQ(pool.frames.size(), 15u);
  EXPECT_EQ(pool.frames, stacks[1].frames);
  EXPECT_EQ(pool.frames[4], (Frame{"___pthread_cond_wait", "./nptl/pthread_cond_wait.c", 618}));
  EXPECT_EQ(pool.frames[5].function,
            "(anonymous namespace)::Pool<std::vector<int, std::allocator<int> > "
            ">::WaitForWork(std::function<void(int (*)(int))>)");
  EXPECT_EQ(pool.frames[6], (Frame{"operator()", "hang.cc", 13}));
  EXPECT_EQ(pool.frames[12], (Frame{"", "/lib/x86_64-linux-gnu/libstdc++.so.6", 0}));
  const ThreadStack& main = stacks[2];
  EXPECT_TRUE(main.is_main);
  ASSERT_EQ(main.frames.size(), 3u);
  EXPECT_EQ(main.frames[1], (Frame{"(anonymous namespace)::Reduce", "hang.cc", 9}));
}

TEST(Gdb, PythonsFramesReplaceThoseOfItsInterpreter) {
  const std::vector<ThreadStack> stacks = ParseGdb(Printed("gdb_python.txt"), 29201);
  ASSERT_EQ(stacks.size(), 2u);
  EXPECT_EQ(stacks[0].frames.size(), 6u);
  ASSERT_EQ(stacks[1].frames.size(), 5u);
  EXPECT_TRUE(stacks[1].is_main);
  EXPECT_EQ(stacks[1].frames[3], (Frame{"step", "/home/ana/hang2.py", 4}));
}

TEST(Gdb, OddLinesAreIgnored) {
  EXPECT_TRUE(ParseGdb("", 1).empty());
  EXPECT_TRUE(ParseGdb("#0  main () at a.c:1\nThread 1 ():\n", 1).empty());
  const auto stacks = ParseGdb(
      "Thread 1 (process 7):\n#0  <signal handler called>\n#1  0x12 in\n#2\n#x\n#3  f ()\n"
      "  File \"a, line 3\n(More stack frames follow...)\n",
      7);
  ASSERT_EQ(stacks.size(), 1u);
  EXPECT_TRUE(stacks[0].is_main);
  EXPECT_TRUE(stacks[0].is_cut);
  ASSERT_EQ(stacks[0].frames.size(), 3u);
  EXPECT_EQ(stacks[0].frames[0].function, "<signal handler called>");
  EXPECT_EQ(stacks[0].frames[2].function, "f");
}

TEST(Gdb, ErrorSaysWhyItCouldNotAttach) {
  EXPECT_EQ(GdbError("warning: x\nptrace: Operation not permitted.\nNo stack.\n"),
            "ptrace: Operation not permitted.");
}

}  // namespace
}  // namespace xlaprof::stacks
