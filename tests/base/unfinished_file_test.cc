// Tests who may write an output, and what is left when a writer is killed.
#include "base/unfinished_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <thread>
#include <vector>

#include "tests/read_file.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class Unfinished : public testing::Test {
 protected:
  Unfinished() {
    std::string name = (fs::temp_directory_path() / "xlaprofXXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~Unfinished() override { fs::remove_all(folder_); }
  static void Write(const fs::path& path, std::string_view text) { std::ofstream(path) << text; }
  std::string Content(const std::string& name) const { return ReadFile(folder_ / name); }
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.insert(entry.path().filename());
    return names;
  }
  // Returns how a process ended that runs `work`.
  static int StatusOf(const std::function<void()>& work) {
    const pid_t child = fork();
    if (child == 0) {
      work();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }
  fs::path folder_;
};

// Regression: what a killed writer left stayed for ever.
TEST_F(Unfinished, TheNextWriterRemovesWhatAKilledOneLeft) {
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(StatusOf([&] {
                const auto file = UnfinishedFile::Create(folder_ / "run.json");
                Write(file->path(), "half");
                for (const char* suffix : {"-wal", "-shm", "-journal"})
                  Write(file->path().string() + suffix, "half");
                kill(getpid(), SIGKILL);
              }),
              SIGKILL);
  EXPECT_EQ(Names().size(), 4u);  // each removed what the one before had left
  { EXPECT_TRUE(UnfinishedFile::Create(folder_ / "other.json").ok()); }
  EXPECT_EQ(Names().size(), 4u);
  { EXPECT_TRUE(UnfinishedFile::Create(folder_ / "run.json").ok()); }
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(Unfinished, AWriterThatLivesKeepsItsFile) {
  auto first = UnfinishedFile::Create(folder_ / "run.json");
  ASSERT_TRUE(first.ok());
  Write(first->path(), "first");
  {
    auto second = UnfinishedFile::Create(folder_ / "run.json");
    ASSERT_TRUE(second.ok());
    EXPECT_EQ(Names().size(), 2u);
  }
  EXPECT_EQ(StatusOf([&] {
              if (!UnfinishedFile::Create(folder_ / "run.json").ok()) _exit(1);
            }),
            0);
  ASSERT_TRUE(first->Finish().ok());
  EXPECT_THAT(Names(), ElementsAre("run.json"));
  EXPECT_EQ(Content("run.json"), "first");
}

TEST_F(Unfinished, NoOtherFileIsRemoved) {
  const std::set<std::string> others{".run.json.part",
                                     ".run.json.1.part",
                                     ".run.json.0123456789abcdef.part",
                                     ".run.json.0123456789abcdef..part",
                                     ".run.json.0123456789abcdef.1.part.bak",
                                     ".run.json.0123456789ABCDEF.1.part",
                                     ".run.json.0123456789abcdef0.1.part",
                                     ".run.json.0123456789abcdef.x.part",
                                     ".my.run.json.0123456789abcdef.1.part",
                                     "run.json.0123456789abcdef.1.part",
                                     ".run.json.gz.0123456789abcdef.1.part",
                                     ".run.json.0123456789abcdef.1.part-wal"};
  for (const std::string& name : others) Write(folder_ / name, "mine");
  // The form is right, but these are no files that a writer left.
  fs::create_directory(folder_ / ".run.json.0123456789abcdef.2.part");
  fs::create_symlink("run.json.0123456789abcdef.1.part",
                     folder_ / ".run.json.0123456789abcdef.3.part");
  const std::set<std::string> before = Names();
  { EXPECT_TRUE(UnfinishedFile::Create(folder_ / "run.json").ok()); }
  EXPECT_EQ(Names(), before);
  EXPECT_EQ(Content("run.json.0123456789abcdef.1.part"), "mine");
}

TEST_F(Unfinished, OneOfManyWritersOfANewFileSucceeds) {
  std::atomic<int> finished = 0, refused = 0;
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 8; ++i)
      writers.emplace_back([&] {
        for (int round = 0; round < 20; ++round) {
          auto file = UnfinishedFile::Create(folder_ / "run.json");
          ASSERT_TRUE(file.ok()) << file.status();
          Write(file->path(), "whole");
          const absl::Status status = file->FinishNew();
          finished += status.ok();
          refused += absl::IsAlreadyExists(status);
        }
      });
  }
  EXPECT_EQ(finished, 1);
  EXPECT_EQ(refused, 8 * 20 - 1);
  EXPECT_THAT(Names(), ElementsAre("run.json"));
  EXPECT_EQ(Content("run.json"), "whole");
}

// Regression: as root, a device became a file.
TEST_F(Unfinished, OnlyAFileIsReplaced) {
  fs::create_directory(folder_ / "folder");
  EXPECT_TRUE(absl::IsInvalidArgument(UnfinishedFile::Create(folder_ / "folder").status()));
  auto file = UnfinishedFile::Create(folder_ / "pipe");
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(absl::IsInvalidArgument(file->Finish()));
  EXPECT_TRUE(fs::is_fifo(folder_ / "pipe"));
}

TEST_F(Unfinished, NobodyReadsWhatReplacesAPrivateFile) {
  Write(folder_ / "run.json", "old");
  fs::permissions(folder_ / "run.json", fs::perms(0400));
  auto file = UnfinishedFile::Create(folder_ / "run.json");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(fs::status(file->path()).permissions(), fs::perms(0600));
  Write(file->path(), "new");
  ASSERT_TRUE(file->Finish().ok());
  EXPECT_EQ(Content("run.json"), "new");
  EXPECT_EQ(fs::status(folder_ / "run.json").permissions(), fs::perms(0400));
}

}  // namespace
}  // namespace xlaprof
