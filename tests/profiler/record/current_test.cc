// Tests access to the recording of this process by code that did not start it.
#include "profiler/record/current.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/temporary_folder.h"
#include "profiler/store/store.h"

namespace xlaprof {
namespace {

class Current : public testing::Test {
 protected:
  TemporaryFolder folder_ = *TemporaryFolder::Make("test");
  const std::filesystem::path path_ = folder_.path() / "run.xlaprof";
};

TEST_F(Current, NothingIsRecorded) {
  EXPECT_TRUE(absl::IsNotFound(CommitRecording().status()));
  auto recording = StartRecording(path_);
  ASSERT_TRUE(recording.ok()) << recording.status();
  EXPECT_TRUE(CommitRecording().ok());
  ASSERT_TRUE(recording->Stop().ok());
  EXPECT_TRUE(absl::IsNotFound(CommitRecording().status()));
}

TEST_F(Current, WhatWasCompletedIsThereForReaders) {
  // With this interval, nothing is committed for an hour by itself.
  auto recording = StartRecording(path_, {.commit_interval_ns = int64_t(3600) * 1'000'000'000});
  ASSERT_TRUE(recording.ok()) << recording.status();
  for (int round = 1; round <= 3; ++round) {
    {
      Trace trace("done");
    }
    const auto before = std::chrono::steady_clock::now();
    auto current = CommitRecording();
    ASSERT_TRUE(current.ok()) << current.status();
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
    EXPECT_EQ(current->path, path_);
    EXPECT_EQ(current->stats.events, round);
    Store store = *Store::Open(path_);
    EXPECT_EQ(store.One<int64_t>("SELECT count(*) FROM event")->value_or(0), round);
    EXPECT_LE(store.One<int64_t>("SELECT max(ts_ns + dur_ns) FROM event")->value_or(0),
              current->now_ns);
  }
}

// A copy has what was completed until now, and the recording goes on.
TEST_F(Current, ACopyIsAStoreOfItsOwn) {
  const std::filesystem::path copy = folder_.path() / "copy.xlaprof";
  xlaprof_current current{.struct_bytes = sizeof current};
  EXPECT_EQ(xlaprof_commit(copy.c_str(), &current), 1) << "nothing is being recorded";
  EXPECT_FALSE(std::filesystem::exists(copy));
  auto recording = StartRecording(path_, {.commit_interval_ns = int64_t(3600) * 1'000'000'000});
  ASSERT_TRUE(recording.ok()) << recording.status();
  { Trace trace("done"); }
  ASSERT_EQ(xlaprof_commit(copy.c_str(), &current), 0) << xlaprof_error();
  EXPECT_EQ(current.path, path_);
  EXPECT_EQ(current.stats.events, 1);
  EXPECT_GT(current.now_ns, 0);
  { Trace trace("later"); }
  const auto names = [](const std::filesystem::path& path) {
    return *Store::Open(path)->One<std::string>("SELECT group_concat(name) FROM event");
  };
  EXPECT_EQ(names(copy), "done");
  EXPECT_EQ(xlaprof_commit(copy.c_str(), &current), -1) << "the file exists";
  EXPECT_NE(std::string(xlaprof_error()).find("copy.xlaprof"), std::string::npos);
  EXPECT_EQ(names(copy), "done");
  ASSERT_TRUE(recording->Stop().ok());
  EXPECT_EQ(names(path_), "done,later");
}

// A caller that asks while the recording ends gets an answer at once.
TEST_F(Current, NobodyWaitsForARecordingThatEnded) {
  std::atomic<bool> ended = false;
  std::thread asking([&] {
    while (!ended) {
      auto current = CommitRecording();
      EXPECT_TRUE(current.ok() || absl::IsNotFound(current.status())) << current.status();
    }
  });
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) {
    auto recording = StartRecording(folder_.path() / fmt::format("{}.xlaprof", i));
    ASSERT_TRUE(recording.ok()) << recording.status();
    {
      Trace trace("work");
    }
    ASSERT_TRUE(recording->Stop().ok());
  }
  ended = true;
  asking.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

}  // namespace
}  // namespace xlaprof
