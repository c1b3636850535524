// Paths come from captures: only the user's own source may be read, whatever path a log names.
#include "analyzers/report/source_quote.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

class SourceQuote : public testing::Test {
 protected:
  SourceQuote() {
    std::string name = (fs::temp_directory_path() / "quoteXXXXXX").string();
    base_ = fs::canonical(mkdtemp(name.data()));
    root_ = base_ / "project";
    fs::create_directories(root_ / "src");
    Write(root_ / "src/train.py", "import torch\n  loss.item()  \nlast");
    Write(base_ / "secret", "root:hash\nsecond\n");
  }
  ~SourceQuote() override { fs::remove_all(base_); }
  static void Write(const fs::path& path, std::string_view text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  std::optional<Quote> At(const std::string& file, int64_t line = 1, int64_t epoch_ns = 0) {
    std::vector<fs::path> roots = {root_};
    return QuoteSource(file, line, roots, epoch_ns);
  }
  fs::path base_, root_;
};

TEST_F(SourceQuote, LineOfAFileUnderARoot) {
  ASSERT_TRUE(At(root_ / "src/train.py", 2));
  EXPECT_EQ(At(root_ / "src/train.py", 2)->text, "loss.item()");
  EXPECT_EQ(At("src/train.py", 3)->text, "last");
  EXPECT_FALSE(At("src/train.py", 4));
  EXPECT_FALSE(At("src/train.py", 0));
  EXPECT_FALSE(At("src/train.py", -1));
}

TEST_F(SourceQuote, RecordedElsewhere) {
  ASSERT_TRUE(At("/home/other/project/src/train.py", 1));
  EXPECT_EQ(At("/home/other/project/src/train.py", 1)->text, "import torch");
  EXPECT_FALSE(At("/home/other/project/src/nothing.py", 1));
}

// Any part of a path may be where the path begins on this machine. Regression: a hostile path of 20
// KB took a minute.
TEST_F(SourceQuote, PathsOfManyParts) {
  std::string some, many;
  for (int i = 0; i < 50; ++i) some += "/a";
  for (int i = 0; i < 10'000; ++i) many += "/a";
  EXPECT_TRUE(At(some + "/src/train.py"));
  EXPECT_FALSE(At(many + "/src/train.py"));
}

TEST_F(SourceQuote, NothingOutsideOfTheRoots) {
  EXPECT_FALSE(At("/etc/passwd"));
  EXPECT_FALSE(At("/etc/shadow"));
  EXPECT_FALSE(At(base_ / "secret"));
  EXPECT_FALSE(At("../secret"));
  EXPECT_FALSE(At((root_ / "../secret").string()));
  EXPECT_FALSE(At((root_ / "src/../../secret").string()));
  EXPECT_FALSE(At("src/../../secret"));
  EXPECT_FALSE(At("../../../../../../../../etc/passwd"));
}

TEST_F(SourceQuote, NoLinkLeadsOut) {
  fs::create_symlink(base_ / "secret", root_ / "link.py");
  fs::create_directory_symlink(base_, root_ / "up");
  EXPECT_FALSE(At(root_ / "link.py"));
  EXPECT_FALSE(At("link.py"));
  EXPECT_FALSE(At(root_ / "up/secret"));
  fs::create_symlink(root_ / "src/train.py",
                     root_ / "inside.py");  // a link that stays inside is the user's own
  EXPECT_TRUE(At("inside.py"));
}

TEST_F(SourceQuote, ARootThatIsALinkCounts) {
  fs::create_directory_symlink(root_, base_ / "alias");
  std::vector<fs::path> roots = {base_ / "alias"};
  EXPECT_TRUE(QuoteSource((base_ / "alias/src/train.py").string(), 1, roots, 0));
}

TEST_F(SourceQuote, HiddenFilesHoldSecrets) {
  fs::create_directories(root_ / ".ssh");
  Write(root_ / ".ssh/id", "key\n");
  Write(root_ / ".netrc", "password\n");
  EXPECT_FALSE(At(root_ / ".ssh/id"));
  EXPECT_FALSE(At(".netrc"));
}

// Regression: a hostile capture in a home directory could show lines of any file that is not
// hidden.
TEST_F(SourceQuote, OnlyFilesOfSourceCode) {
  for (const char* name : {"credentials", "notes.txt", "deploy.sh", "config.json", "train.log"}) {
    Write(root_ / name, "password\n");
    EXPECT_FALSE(At(name)) << name;
  }
  fs::create_symlink(root_ / "notes.txt", root_ / "notes.py");
  EXPECT_FALSE(At("notes.py"));  // what a link leads to counts
  for (const char* name : {"a.py", "a.cc", "a.cpp", "a.cxx", "a.c", "a.h", "a.hpp", "a.cu", "a.cuh",
                           "a.pyx", "a.ipynb"}) {
    Write(root_ / name, "code\n");
    EXPECT_TRUE(At(name)) << name;
  }
}

TEST_F(SourceQuote, OnlyRegularTextFiles) {
  Write(root_ / "blob.py", std::string_view("ab\0cd\n", 6));
  EXPECT_FALSE(At("blob.py"));
  EXPECT_FALSE(At("src"));
  ASSERT_EQ(mkfifo((root_ / "pipe.py").c_str(), 0600), 0);
  EXPECT_FALSE(At("pipe.py"));  // must not wait for a writer
  Write(root_ / "big.py", "x\n");
  fs::resize_file(root_ / "big.py", (8 << 20) + 1);
  EXPECT_FALSE(At("big.py"));
  EXPECT_FALSE(At(""));
  EXPECT_FALSE(At(std::string("src/train.py\0x", 14)));
}

TEST_F(SourceQuote, SaysWhenTheFileIsNewer) {
  constexpr int64_t kLongAgo = 1'000'000'000'000'000'000;  // in 2001
  constexpr int64_t kFarAhead = 4'000'000'000'000'000'000;
  EXPECT_TRUE(At("src/train.py", 1, kLongAgo)->newer_than_capture);
  EXPECT_FALSE(At("src/train.py", 1, kFarAhead)->newer_than_capture);
  EXPECT_FALSE(At("src/train.py", 1, 0)->newer_than_capture);
}

// Regression: each file of a copied folder passed for a file that was edited.
TEST_F(SourceQuote, FilesThatWereCopiedWithTheCaptureAreNotNewer) {
  const int64_t modified_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::chrono::file_clock::to_sys(fs::last_write_time(root_ / "src/train.py"))
              .time_since_epoch())
          .count();
  constexpr int64_t kSecondNs = 1'000'000'000;
  EXPECT_FALSE(At("src/train.py", 1, modified_ns - 59 * kSecondNs)->newer_than_capture);
  EXPECT_TRUE(At("src/train.py", 1, modified_ns - 61 * kSecondNs)->newer_than_capture);
}

TEST_F(SourceQuote, EscapesAndCuts) {
  Write(root_ / "odd.py", "a = '\x1b[31m'\n" + std::string(5000, 'x') + "\n\n");
  EXPECT_EQ(At("odd.py", 1)->text, "a = '\\x1b[31m'");
  EXPECT_LT(At("odd.py", 2)->text.size(), 210u);
  EXPECT_FALSE(At("odd.py", 3));
}

}  // namespace
}  // namespace xlaprof
