#include "profiler/launch/stderr_pipe.h"

#include <fcntl.h>
#include <gmock/gmock.h>

#include <fstream>

#include "base/temporary_folder.h"
#include "tests/read_file.h"

namespace xlaprof {
namespace {

TEST(StderrPipe, TheFileHasABound) {
  const auto folder = TemporaryFolder::Make("stderr-pipe-test");
  ASSERT_TRUE(folder.ok());
  auto pipe = StderrPipe::Make(folder->path(), /*most_bytes=*/10);
  ASSERT_TRUE(pipe.ok()) << pipe.status();
  const Descriptor writer(open((folder->path() / "stderr.pipe").c_str(), O_WRONLY | O_NONBLOCK));
  ASSERT_EQ(write(writer.get(), "12345\n", 6), 6);
  EXPECT_EQ(pipe->Await(), 0);
  EXPECT_EQ(ReadFile(folder->path() / "stderr.txt"), "12345\n");
  ASSERT_EQ(write(writer.get(), "123456\n", 7), 7);
  EXPECT_EQ(pipe->Await(), 3);
  ASSERT_EQ(write(writer.get(), "more\n", 5), 5);
  EXPECT_EQ(pipe->Await(), 8);
  EXPECT_EQ(ReadFile(folder->path() / "stderr.txt"),
            "12345\n1234\nxlaprof: standard error goes on after these 10 bytes, and is not kept\n");
}

TEST(StderrPipe, AFileOfTheCommandsStays) {
  const auto folder = TemporaryFolder::Make("stderr-pipe-test");
  ASSERT_TRUE(folder.ok());
  std::ofstream(folder->path() / "stderr.txt") << "thesis";
  auto pipe = StderrPipe::Make(folder->path());
  ASSERT_TRUE(pipe.ok()) << pipe.status();
  const Descriptor writer(open((folder->path() / "stderr.pipe").c_str(), O_WRONLY | O_NONBLOCK));
  ASSERT_EQ(write(writer.get(), "12345\n", 6), 6);
  pipe->Await();
  EXPECT_EQ(ReadFile(folder->path() / "stderr.txt"), "thesis");
}

}  // namespace
}  // namespace xlaprof
