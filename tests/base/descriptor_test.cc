#include "base/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace xlaprof {
namespace {

class DescriptorTest : public testing::Test {
 protected:
  DescriptorTest() {
    std::string name = std::filesystem::temp_directory_path() / "xlaprof-descriptor-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  ~DescriptorTest() override {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }
  // Opens a file as a program does that knows nothing of ours.
  int OpenFile(const std::string& name) {
    return open((folder_ / name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  }
  std::filesystem::path folder_;
};

TEST_F(DescriptorTest, ANumberThatAnotherFileGotIsNeitherUsedNorClosed) {
  int theirs = -1;
  {
    const Descriptor ours = Descriptor::Open(folder_ / "ours", O_RDWR | O_CREAT, 0600);
    const int number = ours.get();
    ASSERT_GE(number, 0);
    theirs = OpenFile("theirs");
    ASSERT_EQ(dup2(theirs, number), number);
    close(theirs);
    theirs = number;
    EXPECT_EQ(ours.get(), -1);
    EXPECT_TRUE(ours.is_open());
  }
  EXPECT_EQ(write(theirs, "text", 4), 4);
  EXPECT_EQ(close(theirs), 0);
}

TEST_F(DescriptorTest, ANumberThatWasClosedIsNotUsed) {
  const Descriptor ours = Descriptor::Open(folder_ / "ours", O_RDWR | O_CREAT, 0600);
  close(ours.get());
  EXPECT_EQ(ours.get(), -1);
}

TEST_F(DescriptorTest, ClosesItsOwnFile) {
  int number = -1;
  {
    const Descriptor ours(OpenFile("ours"));
    number = ours.get();
  }
  EXPECT_EQ(fcntl(number, F_GETFD), -1);
}

TEST_F(DescriptorTest, NoFileOfOursBecomesAStandardStream) {
  const pid_t child = fork();
  if (child == 0) {
    for (int stream : {0, 1, 2}) close(stream);
    const Descriptor opened = Descriptor::Open(folder_ / "opened", O_RDWR | O_CREAT, 0600);
    const Descriptor taken(OpenFile("taken"));
    const bool are_above = opened.get() > 2 && taken.get() > 2;
    bool are_closed = true;
    for (int stream : {0, 1, 2}) are_closed &= fcntl(stream, F_GETFD) == -1;
    const bool is_inherited = (fcntl(opened.get(), F_GETFD) & FD_CLOEXEC) == 0 ||
                              (fcntl(taken.get(), F_GETFD) & FD_CLOEXEC) == 0;
    _exit(are_above && are_closed && !is_inherited ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(DescriptorTest, RemovesAFileOnlyByItsIdentity) {
  std::ofstream(folder_ / "one") << "1";
  std::ofstream(folder_ / "other") << "2";
  const FileIdentity one = IdentityOf(folder_ / "one");
  EXPECT_FALSE(RemoveFile(folder_ / "other", one));
  EXPECT_FALSE(RemoveFile(folder_ / "other", {}));
  std::filesystem::create_symlink("one", folder_ / "link");
  EXPECT_FALSE(RemoveFile(folder_ / "link", one));
  EXPECT_TRUE(RemoveFile(folder_ / "one", one));
  EXPECT_FALSE(IdentityOf(folder_ / "one").exists);
  EXPECT_TRUE(IdentityOf(folder_ / "other").exists);
}

}  // namespace
}  // namespace xlaprof
