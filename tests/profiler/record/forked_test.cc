// Tests what is known of the events that a forked child loses, however the child and its parent end.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "profiler/record/record.h"
#include "profiler/record/recover.h"
#include "profiler/record/start_at.h"
#include "tests/profiler/record/recorded.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

using testing::ElementsAre;

class Forked : public Record {
 protected:
  static void Lose(int events) {
    for (int i = 0; i < events; ++i) Trace lost("the child's");
  }
  // Waits in a child for the end of its parent.
  static void AwaitEndOf(pid_t parent) {
    while (getppid() == parent) usleep(1000);
  }

  // Records one event in a process that forks a child, which does `in_child`. That process ends its
  // recording while the child runs, or is killed.
  void Record1(const std::function<void(pid_t parent)>& in_child, bool is_killed = false) {
    const int status = InChild([&] {
      auto recording = StartRecording(path_);
      if (!recording.ok()) return 1;
      {
        Trace scope("the parent's");
      }
      const pid_t parent = getpid();
      if (fork() == 0) {
        alarm(120);  // if the test fails
        in_child(parent);
        _exit(0);
      }
      if (is_killed) raise(SIGKILL);
      return recording->Stop().ok() ? 0 : 2;
    });
    ASSERT_EQ(status, is_killed ? -SIGKILL : 0);
  }
  bool HasRing() const { return fs::exists(RingPath(path_)); }
  std::vector<std::string> Counted() {
    return Rows("SELECT count || '' FROM import_issue WHERE code = 'forked_events'");
  }
};

// Tells when all processes that have its writing end are gone.
class Alive {
 public:
  Alive() { EXPECT_EQ(pipe(ends_), 0); }
  ~Alive() { close(ends_[0]); }
  Alive(const Alive&) = delete;
  void AwaitEnd() {
    close(ends_[1]);
    char none = 0;
    EXPECT_EQ(read(ends_[0], &none, 1), 0);
  }

 private:
  int ends_[2];
};

// Regression: the events were counted only if the child ended by exit().
TEST_F(Forked, EventsAfterTheEndOfTheParentAreCountedHoweverTheChildEnds) {
  for (const bool is_killed : {false, true}) {
    Alive alive;
    Record1([&](pid_t parent) {
      Lose(20);
      AwaitEndOf(parent);
      Lose(500);
      if (is_killed) raise(SIGKILL);
      _exit(0);
    });
    alive.AwaitEnd();
    // A reader sees the count, and changes nothing.
    ASSERT_TRUE(HasRing());
    {
      auto read = ReadKilled(path_);
      ASSERT_TRUE(read.ok() && *read) << read.status();
      EXPECT_EQ(*(*read)->One<int64_t>("SELECT sum(count) FROM import_issue").value(), 520);
      EXPECT_EQ(*(*read)->Meta("recording_end"), std::nullopt);
    }
    auto recovered = RecoverRecording(path_);
    ASSERT_TRUE(recovered.ok()) << recovered.status();
    EXPECT_EQ(recovered->events, 0);
    EXPECT_GE(recovered->forked, 500);
    EXPECT_THAT(Counted(), ElementsAre("520"));
    EXPECT_THAT(Rows("SELECT name FROM event"), ElementsAre("the parent's"));
    EXPECT_THAT(Files(), ElementsAre("run.xlaprof"));
    EXPECT_FALSE(*ReadKilled(path_));
    fs::remove(path_);
  }
}

TEST_F(Forked, AChildThatLosesNothingRemovesTheRingWhenItExits) {
  Alive alive;
  Record1([](pid_t parent) {
    AwaitEndOf(parent);
    std::exit(0);
  });
  alive.AwaitEnd();
  EXPECT_THAT(Files(), ElementsAre("run.xlaprof"));
}

TEST_F(Forked, AChildThatExitsAfterItsParentCompletesTheStore) {
  Alive alive;
  Record1([](pid_t parent) {
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(1);
    AwaitEndOf(parent);
    Lose(500);
    std::exit(0);
  });
  alive.AwaitEnd();
  EXPECT_THAT(Counted(), ElementsAre("500"));
  EXPECT_THAT(Files(), ElementsAre("run.xlaprof"));
}

// Loader workers end like this.
TEST_F(Forked, ChildrenThatEndBeforeTheirParentLeaveNoRing) {
  auto recording = StartRecording(path_);
  ASSERT_TRUE(recording.ok());
  EXPECT_EQ(InChild([] {
              Lose(300);
              return 0;
            }),
            0);
  EXPECT_EQ(InChild([] {
              Lose(200);
              return raise(SIGKILL);
            }),
            -SIGKILL);
  auto stats = recording->Stop();
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->forked, 500);
  EXPECT_THAT(Counted(), ElementsAre("500"));
  EXPECT_THAT(Files(), ElementsAre("run.xlaprof"));
}

TEST_F(Forked, AChildThatRunsAnotherProgramLeavesNoRing) {
  Alive alive;
  int runs[2];  // closed when the program starts
  ASSERT_EQ(pipe2(runs, O_CLOEXEC), 0);
  auto recording = StartRecording(path_);
  ASSERT_TRUE(recording.ok());
  const pid_t child = fork();
  if (child == 0) {
    execlp("sleep", "sleep", "60", nullptr);
    _exit(1);
  }
  close(runs[1]);
  char none = 0;
  EXPECT_EQ(read(runs[0], &none, 1), 0);
  close(runs[0]);
  EXPECT_TRUE(recording->Stop().ok());
  EXPECT_THAT(Files(), ElementsAre("run.xlaprof"));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

// A child that goes on counts in the ring's header, as often as the store takes the count from it.
TEST_F(Forked, TheCountGoesOnWhileTheChildRuns) {
  for (const bool is_killed : {false, true}) {
    int orders[2], answers[2];
    ASSERT_EQ(pipe(orders), 0);
    ASSERT_EQ(pipe(answers), 0);
    Alive alive;
    Record1(
        [&](pid_t parent) {
          AwaitEndOf(parent);
          for (char order; read(orders[0], &order, 1) == 1 && order == 'l';) {
            Lose(100);
            if (write(answers[1], &order, 1) != 1) _exit(1);
          }
          raise(SIGKILL);
        },
        is_killed);
    const auto tell = [&](char order) {
      return write(orders[1], &order, 1) == 1 && (order == 'e' || read(answers[0], &order, 1) == 1);
    };
    for (int round = 0; round < 2; ++round) {
      ASSERT_TRUE(tell('l'));
      auto recovered = RecoverRecording(path_);
      ASSERT_TRUE(recovered.ok()) << recovered.status();
      EXPECT_EQ(recovered->events, is_killed && round == 0 ? 1 : 0);
      EXPECT_EQ(recovered->forked, 100);
      struct stat ring{};
      ASSERT_EQ(stat(RingPath(path_).c_str(), &ring), 0);
      EXPECT_LE(ring.st_blocks * 512, 16384);  // only the header is left
    }
    ASSERT_TRUE(tell('l') && tell('e'));
    alive.AwaitEnd();
    EXPECT_EQ(RecoverRecording(path_)->forked, 100);
    EXPECT_THAT(Counted(), ElementsAre("300"));
    EXPECT_THAT(Rows("SELECT name FROM event"), ElementsAre("the parent's"));
    EXPECT_THAT(Files(), ElementsAre("run.xlaprof"));
    fs::remove(path_);
    for (const int end : {orders[0], orders[1], answers[0], answers[1]}) close(end);
  }
}

// A new recording of the name takes the place of a ring in which a child still counts.
TEST_F(Forked, AChildOfADeletedRecordingDoesNotPreventTheNextOne) {
  int pids[2];
  ASSERT_EQ(pipe(pids), 0);
  Record1([&](pid_t) {
    const pid_t self = getpid();
    if (write(pids[1], &self, sizeof self) != sizeof self) _exit(1);
    for (;; usleep(1000)) Lose(1);
  });
  pid_t child = 0;
  ASSERT_EQ(read(pids[0], &child, sizeof child), ssize_t(sizeof child));
  EXPECT_TRUE(HasRing());
  fs::remove(path_);
  auto next = StartRecording(path_);
  ASSERT_TRUE(next.ok()) << next.status();
  auto stats = next->Stop();
  kill(child, SIGKILL);
  close(pids[0]), close(pids[1]);
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_EQ(stats->forked, 0);
  EXPECT_THAT(Files(), ElementsAre("run.xlaprof"));
}

TEST_F(Forked, NoRingIsLeftInAFolder) {
  Alive alive;
  int orders[2];
  ASSERT_EQ(pipe(orders), 0);
  EXPECT_EQ(InChild([&] {
              auto started = record::StartAt((folder_ / "runs/").string());
              if (!started.ok()) return 1;
              if (fork() == 0) {
                close(orders[1]);
                char none;
                _exit(int(read(orders[0], &none, 1)));
              }
              if (!started->recording.Stop().ok()) return 2;
              return fs::exists(RingPath(started->path)) ? 3 : 0;
            }),
            0);
  close(orders[0]), close(orders[1]);
  alive.AwaitEnd();
}

// The end of a recording and the end of a child may come in any order.
TEST_F(Forked, NothingIsMissedWhenBothEndAtTheSameTime) {
  auto* truth = static_cast<std::atomic<int64_t>*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (int round = 0; round < 30; ++round) {
    *truth = 0;
    auto recording = StartRecording(path_);
    ASSERT_TRUE(recording.ok());
    const pid_t child = fork();
    if (child == 0) {
      for (;; ++*truth) Lose(1);
    }
    while (*truth == 0) usleep(100);
    std::thread killer([&] {
      usleep(unsigned(round) * 100);
      kill(child, SIGKILL);
    });
    EXPECT_TRUE(recording->Stop().ok());
    killer.join();
    waitpid(child, nullptr, 0);
    ASSERT_TRUE(RecoverRecording(path_).ok());
    EXPECT_THAT(Counted(), testing::AnyOf(ElementsAre(fmt::to_string(truth->load())),
                                          ElementsAre(fmt::to_string(truth->load() + 1))));
    EXPECT_THAT(Files(), ElementsAre("run.xlaprof"));
    fs::remove(path_);
  }
  munmap(truth, 4096);
}

}  // namespace
}  // namespace xlaprof
