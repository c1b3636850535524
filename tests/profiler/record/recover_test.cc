// Tests files that are in the place of a ring but are not rings.
#include "profiler/record/recover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "base/temporary_folder.h"
#include "profiler/record/ring_file.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Recover : public testing::Test {
 protected:
  Recover() {
    Store store = *Store::Create(path_);
    EXPECT_TRUE(
        store
            .Exec(
                "INSERT INTO process (id, segment) VALUES (1, 0);"
                "INSERT INTO recording (id, process_id, ring, ring_key, ended, clock, drain_cpu_ns) VALUES (1, 1, 'a.xlaprof.ring', '00', 0, 'tsc', "
                "NULL)")
            .ok());
  }
  static std::string ErrorOf(const absl::Status& status) { return std::string(Message(status)); }

  TemporaryFolder folder_ = *TemporaryFolder::Make("test");
  const fs::path path_ = folder_.path() / "a.xlaprof";
};

// Regression: a report on the store beside the pipe waited for somebody to write to it.
TEST_F(Recover, PipeIsNoRing) {
  ASSERT_EQ(mkfifo(RingPath(path_).c_str(), 0600), 0);
  EXPECT_THAT(ErrorOf(ReadKilled(path_).status()), HasSubstr("not the ring of a recording"));
  EXPECT_THAT(ErrorOf(RecoverRecording(path_).status()), HasSubstr("not the ring of a recording"));
}

// Regression: a sparse ring of 20 GB was copied to /tmp until that was full.
TEST_F(Recover, HolesAreNotCopied) {
  record::FileHeader header{};
  std::copy_n(record::kRingMagic, sizeof header.magic, header.magic);
  header.levels = record::kMaxLevels;
  header.segment_count = 1;
  std::ofstream(RingPath(path_), std::ios::binary)
      .write(reinterpret_cast<const char*>(&header), sizeof header);
  fs::resize_file(RingPath(path_), uintmax_t(20) << 30);
  const auto started = std::chrono::steady_clock::now();
  EXPECT_FALSE(ReadKilled(path_).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(5));
  // A file without the header of a ring is not copied at all.
  std::ofstream(RingPath(path_), std::ios::binary | std::ios::in).write("nothing!", 8);
  EXPECT_THAT(ErrorOf(ReadKilled(path_).status()), HasSubstr("not the ring of a recording"));
}

}  // namespace
}  // namespace xlaprof
