#include "base/temporary_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

// Gives each test its own folder for temporary files. The tests run at the same time, and one of
// them would remove what another left.
class TemporaryFolderTest : public testing::Test {
 protected:
  TemporaryFolderTest() {
    std::string name = (fs::temp_directory_path() / "xlaprofXXXXXX").string();
    folder_ = mkdtemp(name.data());
    setenv("TMPDIR", folder_.c_str(), 1);
  }
  ~TemporaryFolderTest() override {
    unsetenv("TMPDIR");
    fs::remove_all(folder_);
  }

 private:
  fs::path folder_;
};

// Makes everything in a folder look old, as folders that were left an hour ago do.
void MakeOld(const fs::path& folder) {
  fs::last_write_time(folder, fs::file_time_type::clock::now() - std::chrono::hours(1));
}

// Makes a folder in a child, which is killed.
fs::path LeftByAKilledProcess(bool keep) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    auto folder = TemporaryFolder::Make("left");
    if (!folder.ok()) _exit(1);
    std::string path = folder->path().string();
    std::ofstream(folder->path() / "file") << "content";
    if (keep) (void)folder->Keep();
    if (write(ends[1], path.data(), path.size()) != ssize_t(path.size())) _exit(1);
    kill(getpid(), SIGKILL);
  }
  char path[4096];
  const ssize_t got = read(ends[0], path, sizeof path);
  waitpid(child, nullptr, 0);
  close(ends[0]), close(ends[1]);
  return {path, path + std::max<ssize_t>(0, got)};
}

// Regression: folders of killed captures and servers stayed for ever.
TEST_F(TemporaryFolderTest, WhatAKilledProcessLeftIsRemovedByTheNext) {
  const fs::path left = LeftByAKilledProcess(false);
  ASSERT_TRUE(fs::exists(left / "file"));
  { auto young = TemporaryFolder::Make("left"); }
  EXPECT_TRUE(fs::exists(left)) << "it may just have been made";
  MakeOld(left);
  { auto other = TemporaryFolder::Make("other"); }
  EXPECT_TRUE(fs::exists(left));
  { auto next = TemporaryFolder::Make("left"); }
  EXPECT_FALSE(fs::exists(left));
}

TEST_F(TemporaryFolderTest, WhatIsKeptOrInUseStays) {
  const fs::path kept = LeftByAKilledProcess(true);
  MakeOld(kept);
  auto in_use = TemporaryFolder::Make("left");
  ASSERT_TRUE(in_use.ok());
  MakeOld(in_use->path());
  { auto next = TemporaryFolder::Make("left"); }
  EXPECT_TRUE(fs::exists(kept / "file"));
  EXPECT_TRUE(fs::exists(in_use->path()));
}

}  // namespace
}  // namespace xlaprof
