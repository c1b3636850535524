// Tests that the open scopes of a running recording can be read without disturbing it.
#include "profiler/record/live_scopes.h"

#include <gmock/gmock.h>

#include <fstream>
#include <latch>
#include <thread>

#include "profiler/record/record.h"
#include "profiler/record/recover.h"
#include "tests/profiler/record/recorded.h"

namespace xlaprof {
namespace {

using testing::ElementsAre;

using LiveScopesOf = Record;

std::vector<std::string> Names(const OpenThread& thread) {
  std::vector<std::string> names;
  for (const OpenScope& scope : thread.scopes)
    names.push_back(scope.name + (scope.step ? fmt::format(" {}", *scope.step) : ""));
  return names;
}

TEST_F(LiveScopesOf, EachThreadIsRead) {
  auto recording = StartRecording(path_);
  NameThread("main");
  {
    XLAPROF_TRACE("before");
  }
  XLAPROF_TRACE("epoch");
  XLAPROF_STEP("train", 41);
  XLAPROF_TRACE("allreduce");
  std::latch opened(1), read(1);
  std::thread other([&] {
    NameThread("loader");
    XLAPROF_TRACE("load");
    opened.count_down();
    read.wait();
  });
  opened.wait();
  usleep(150'000);  // until the rate of the clock is known
  const auto live = ReadLiveScopes(RingPath(path_));
  read.count_down();
  other.join();
  ASSERT_TRUE(live.ok()) << live.status();
  EXPECT_EQ(live->pid, getpid());
  ASSERT_EQ(live->threads.size(), 2u);
  EXPECT_EQ(live->threads[0].name, "main");
  EXPECT_EQ(live->threads[0].tid, getpid());
  EXPECT_THAT(Names(live->threads[0]), ElementsAre("epoch", "train 41", "allreduce"));
  EXPECT_EQ(live->threads[1].name, "loader");
  EXPECT_THAT(Names(live->threads[1]), ElementsAre("load"));
  for (const OpenThread& thread : live->threads) {
    for (const OpenScope& scope : thread.scopes) {
      ASSERT_TRUE(scope.open_ns);
      EXPECT_GE(*scope.open_ns, 100'000'000);
      EXPECT_LT(*scope.open_ns, 600'000'000'000);
      EXPECT_TRUE(scope.file.ends_with("live_scopes_test.cc")) << scope.file;
      EXPECT_GT(scope.line, 0);
    }
  }
  EXPECT_GE(*live->threads[0].scopes[0].open_ns, *live->threads[0].scopes[2].open_ns);
}

TEST_F(LiveScopesOf, NothingIsOpenBetweenScopes) {
  auto recording = StartRecording(path_);
  {
    XLAPROF_TRACE("before");
  }
  const auto live = ReadLiveScopes(RingPath(path_));
  ASSERT_TRUE(live.ok()) << live.status();
  EXPECT_TRUE(live->threads.empty());
}

TEST_F(LiveScopesOf, OtherFilesAreRefused) {
  std::ofstream(path_) << "not a ring";
  EXPECT_TRUE(absl::IsDataLoss(ReadLiveScopes(path_).status()));
  EXPECT_FALSE(ReadLiveScopes(folder_ / "none").ok());
  // Sizes that only its header claims.
  auto recording = StartRecording(folder_ / "run.xlaprof.new.xlaprof");
  std::filesystem::copy_file(RingPath(folder_ / "run.xlaprof.new.xlaprof"), folder_ / "cut");
  std::filesystem::resize_file(folder_ / "cut", 5000);
  EXPECT_TRUE(ReadLiveScopes(folder_ / "cut").ok() ||
              absl::IsDataLoss(ReadLiveScopes(folder_ / "cut").status()));
}

}  // namespace
}  // namespace xlaprof
