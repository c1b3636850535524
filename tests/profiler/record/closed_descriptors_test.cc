// Tests programs that close all descriptors while they are recorded, as daemons do, and then open
// files of their own, which get the same numbers.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "base/sanitized.h"
#include "profiler/record/current.h"
#include "profiler/record/forked.h"
#include "profiler/record/record.h"
#include "profiler/record/recover.h"
#include "profiler/record/start_at.h"
#include "tests/profiler/record/recorded.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

constexpr int kLastNumber = 200;
constexpr int kUserFiles = 12;
constexpr int kEvents = 3000;

void RecordSome(int events = kEvents) {
  for (int i = 0; i < events; ++i) Trace scope("scope");
}

class ClosedDescriptors : public Record {
 protected:
  std::string NameOf(int file) { return folder_ / fmt::format("user_{}", file); }
  static void CloseAll(int first = 3) {
    for (int fd = first; fd < kLastNumber; ++fd) close(fd);
  }
  // Does in a child process what the program does with its files, with `body` between their first
  // and their last line. Returns the child's exit status.
  int WithUserFiles(const std::function<bool()>& before, const std::function<bool()>& body,
                    int first_closed = 3) {
    return InChild([&] {
      alarm(120);
      if (!before()) return 1;
      CloseAll(first_closed);
      int files[kUserFiles];
      for (int i = 0; i < kUserFiles; ++i) {
        files[i] = open(NameOf(i).c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (write(files[i], "first\n", 6) != 6) return 2;
      }
      if (!body()) return 3;
      for (int file : files)
        if (write(file, "last\n", 5) != 5 || close(file) != 0) return 4;
      return 0;
    });
  }
  // Starts a recording that commits only when it is asked, and commits some events.
  bool CommitsSome(std::optional<Recording>& recording) {
    auto started = StartRecording(path_, {.commit_interval_ns = 3'600'000'000'000});
    if (!started.ok()) return false;
    recording.emplace(*std::move(started));
    RecordSome();
    return CommitRecording().ok();
  }
  void ExpectUserFilesAreWhole() {
    for (int i = 0; i < kUserFiles; ++i) {
      std::stringstream text;
      text << std::ifstream(NameOf(i)).rdbuf();
      EXPECT_EQ(text.str(), "first\nlast\n") << NameOf(i);
    }
  }
  // Returns the names of the files beside the program's own.
  std::vector<std::string> OurFiles() {
    std::vector<std::string> files = Files();
    std::erase_if(files, [](const std::string& name) { return name.starts_with("user_"); });
    return files;
  }
  void ExpectStoreHas(int events) {
    EXPECT_THAT(Rows("SELECT count(*) FROM event"), ElementsAre(fmt::to_string(events)));
    EXPECT_THAT(Rows("PRAGMA integrity_check"), ElementsAre("ok"));
    EXPECT_THAT(OurFiles(), ElementsAre("run.xlaprof"));
  }
};

// Regression: the store, its log and the ring were written to the program's files, and one of these
// was removed.
TEST_F(ClosedDescriptors, TheRecordingGoesOnInItsOwnFiles) {
  std::optional<Recording> recording;
  const int status = WithUserFiles(
      [&] {
        auto started = StartRecording(path_, {.commit_interval_ns = 1'000'000});
        if (!started.ok()) return false;
        recording.emplace(*std::move(started));
        RecordSome();
        return CommitRecording().ok();
      },
      [&] {
        for (int i = 0; i < 4; ++i) {
          RecordSome();
          if (!CommitRecording().ok()) return false;
        }
        std::thread(RecordSome, kEvents).join();  // a part of the ring that is new
        const auto stats = recording->Stop();
        return stats.ok() && stats->events == 6 * kEvents && stats->dropped == 0;
      });
  EXPECT_EQ(status, 0);
  ExpectUserFilesAreWhole();
  ExpectStoreHas(6 * kEvents);
}

TEST_F(ClosedDescriptors, NothingWasWrittenYet) {
  std::optional<Recording> recording;
  const int status = WithUserFiles(
      [&] {
        auto started = StartRecording(path_, {.commit_interval_ns = 3'600'000'000'000});
        if (!started.ok()) return false;
        recording.emplace(*std::move(started));
        return true;
      },
      [&] {
        RecordSome();
        const auto stats = recording->Stop();
        return stats.ok() && stats->events == kEvents;
      });
  EXPECT_EQ(status, 0);
  ExpectUserFilesAreWhole();
  ExpectStoreHas(kEvents);
}

// A shell's `exec 7>file` closes what had the number 7.
TEST_F(ClosedDescriptors, NumbersThatWereReplacedStayOpen) {
  const int status = InChild([&] {
    auto recording = StartRecording(path_, {.commit_interval_ns = 1'000'000});
    RecordSome();
    if (!CommitRecording().ok()) return 1;
    const int file = open(NameOf(0).c_str(), O_RDWR | O_CREAT | O_APPEND, 0600);
    for (int fd = 3; fd < kLastNumber; ++fd)
      if (fd != file && dup2(file, fd) != fd) return 2;
    RecordSome();
    const auto stats = recording->Stop();
    if (!stats.ok() || stats->events != 2 * kEvents) return 3;
    for (int fd = 3; fd < kLastNumber; ++fd)
      if (write(fd, "x", 1) != 1) return 4;
    return 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(fs::file_size(NameOf(0)), size_t(kLastNumber - 3));
  ExpectStoreHas(2 * kEvents);
}

// Others must not recover a recording that goes on, or its events would be in the store twice.
TEST_F(ClosedDescriptors, TheRingStaysLocked) {
  const int status = InChild([&] {
    auto recording = StartRecording(path_);
    RecordSome();
    CloseAll();
    const int locked = InChild(
        [&] { return absl::IsFailedPrecondition(RecoverRecording(path_).status()) ? 0 : 1; });
    return locked == 0 && recording->Stop().ok() ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  ExpectStoreHas(kEvents);
}

TEST_F(ClosedDescriptors, EventsOfAStoreThatIsGoneAreCounted) {
  std::optional<Recording> recording;
  const int status = WithUserFiles(
      [&] { return CommitsSome(recording); },
      [&] {
        RecordSome(100);
        for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(path_.string() + suffix);
        std::ofstream(path_) << "the user's";
        const auto stats = recording->Stop();
        return Message(stats.status()).find(fmt::format("{} events are lost", kEvents + 100)) !=
               std::string_view::npos;
      });
  EXPECT_EQ(status, 0);
  ExpectUserFilesAreWhole();
  std::stringstream text;
  text << std::ifstream(path_).rdbuf();
  EXPECT_EQ(text.str(), "the user's");
}

// The log of a store that was moved alone stays behind, so nothing may be added to the store
// without it.
TEST_F(ClosedDescriptors, AStoreThatWasMovedTooKeepsItsRing) {
  std::optional<Recording> recording;
  const fs::path moved = folder_ / "moved.xlaprof";
  const int status = WithUserFiles(
      [&] { return CommitsSome(recording); },
      [&] {
        RecordSome(100);
        fs::rename(path_, moved);
        const auto stats = recording->Stop();
        const std::string_view told = Message(stats.status());
        return told.find("was moved to " + moved.string()) != told.npos &&
               told.find("The last 100 events are not in the store") != told.npos;
      });
  EXPECT_EQ(status, 0);
  ExpectUserFilesAreWhole();
  for (const char* suffix : {"-wal", ".ring"})
    fs::rename(path_.string() + suffix, moved.string() + suffix);
  const auto recovered = RecoverRecording(moved);
  ASSERT_TRUE(recovered.ok()) << recovered.status();
  EXPECT_EQ(recovered->events, 100);
  fs::rename(moved, path_);
  EXPECT_THAT(Rows("SELECT count(*) FROM event"), ElementsAre(fmt::to_string(kEvents + 100)));
}

TEST_F(ClosedDescriptors, AForkedDaemonRecordsIntoItsOwnFile) {
#ifdef XLAPROF_SANITIZED
  GTEST_SKIP() << "the sanitizer's allocator may be locked for ever in a child";
#endif
  const fs::path runs = folder_ / "user_runs";
  const int status = InChild([&] {
    auto started = record::StartAt(runs.string() + "/");
    if (!started.ok()) return 1;
    RecordSome(10);
    const int daemon = WithUserFiles([] { return setsid() > 0; },
                                     [] {
                                       RecordSome();
                                       record::EndForkedChild();
                                       return true;
                                     },
                                     /*first_closed=*/0);
    if (daemon != 0) return 10 + daemon;
    const auto stats = started->recording.Stop();
    return stats.ok() && stats->events == 10 ? 0 : 2;
  });
  EXPECT_EQ(status, 0);
  ExpectUserFilesAreWhole();
  std::vector<std::string> counts;
  for (const auto& entry : fs::directory_iterator(runs)) {
    path_ = entry.path();
    for (std::string& count : Rows("SELECT count(*) FROM event"))
      counts.push_back(std::move(count));
  }
  EXPECT_THAT(counts, testing::UnorderedElementsAre("10", fmt::to_string(kEvents)));
}

// Regression: messages were written to the program's file that had got the number of standard
// error.
TEST_F(ClosedDescriptors, NoMessageIsWrittenToAFileOfTheProgram) {
  const int status = InChild([&] {
    for (int stream : {0, 1, 2}) close(stream);
    auto recording = StartRecording(path_);
    RecordSome(10);
    for (int number : {0, 1, 2})
      if (open(NameOf(number).c_str(), O_RDWR | O_CREAT, 0600) != number) return 1;
    fs::remove(path_);
    std::ofstream(path_) << "another file";
    return recording->Stop().ok() ? 2 : 0;
  });
  EXPECT_EQ(status, 0);
  for (int number : {0, 1, 2}) EXPECT_EQ(fs::file_size(NameOf(number)), 0u) << number;
}

TEST_F(ClosedDescriptors, NoneIsInherited) {
  const int status = InChild([&] {
    auto recording = StartRecording(path_);
    RecordSome(10);
    if (!CommitRecording().ok()) return 1;
    int ours = 0;
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
      std::error_code none;
      if (!fs::read_symlink(entry.path(), none).string().starts_with(folder_.string())) continue;
      ++ours;
      if ((fcntl(std::stoi(entry.path().filename()), F_GETFD) & FD_CLOEXEC) == 0) return 2;
    }
    return ours >= 2 && recording->Stop().ok() ? 0 : 3;
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace xlaprof
