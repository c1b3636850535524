// Regression: a Ctrl-C left gigabytes in hidden files and in /tmp.
#include "base/leftover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <set>

#include "base/temporary_folder.h"
#include "base/unfinished_file.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using testing::KilledBySignal;

class LeftoverDeathTest : public testing::Test {
 protected:
  LeftoverDeathTest() {
    std::string name = (fs::temp_directory_path() / "xlaprofXXXXXX").string();
    folder_ = mkdtemp(name.data());
    setenv("TMPDIR", folder_.c_str(), 1);
  }
  ~LeftoverDeathTest() override {
    unsetenv("TMPDIR");
    fs::remove_all(folder_);
  }
  static void Make(const fs::path& path) { std::ofstream(path) << "x"; }
  // Ends the process in the middle of its work.
  void Work(int signal) const {
    std::signal(signal, SIG_DFL);  // a shell ignores some signals in programs that it starts with &
    RemoveLeftoversAtSignals();
    const UnfinishedFile file = *UnfinishedFile::Create(folder_ / "run.xlaprof");
    Make(file.path());
    Make(file.path().string() + "-wal");
    auto folder = TemporaryFolder::Make("test");
    fs::create_directories(folder->path() / "a/b");
    for (int i = 0; i < 300; ++i) Make(folder->path() / "a" / std::to_string(i));
    Make(folder->path() / "a/b/c");
    fs::create_directory_symlink(folder_ / "kept", folder->path() / "link");
    raise(signal);
  }
  std::set<std::string> Left() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      names.insert(entry.path().filename().string());
    return names;
  }
  fs::path folder_;
};

TEST_F(LeftoverDeathTest, SignalsRemoveWhatIsUnfinished) {
  fs::create_directory(folder_ / "kept");
  Make(folder_ / "kept/file");
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
    EXPECT_EXIT(Work(signal), KilledBySignal(signal), "");
    EXPECT_THAT(Left(), testing::ElementsAre("kept"));
  }
  EXPECT_TRUE(fs::exists(folder_ / "kept/file"));
}

TEST_F(LeftoverDeathTest, WhatIsFinishedOrKeptStays) {
  auto work = [&] {
    RemoveLeftoversAtSignals();
    UnfinishedFile file = *UnfinishedFile::Create(folder_ / "run.xlaprof");
    Make(file.path());
    EXPECT_TRUE(file.Finish().ok());
    auto folder = TemporaryFolder::Make("test");
    Make(folder->path() / "file");
    fs::rename(folder->Keep(), folder_ / "moved");
    auto more = TemporaryFolder::Make("test");
    fs::create_directory(more->Keep());
    raise(SIGTERM);
  };
  EXPECT_EXIT(work(), KilledBySignal(SIGTERM), "");
  EXPECT_EQ(Left().size(), 3u);
}

}  // namespace
}  // namespace xlaprof
