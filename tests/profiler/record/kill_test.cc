// Kills processes while they record: nothing that was completed is lost, and nothing is there
// twice. XLAPROF_KILLS is the number of kills (scripts/test --all: 200).
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>

#include "profiler/record/record.h"
#include "profiler/record/recover.h"
#include "profiler/store/events.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

constexpr int kThreads = 2;

// The process counts here what it completed, in memory that outlives it.
struct Truth {
  struct alignas(64) Thread {
    std::atomic<uint64_t> completed;
  } threads[kThreads];
};

// Records scopes whose flows are numbered from 1, `per_second` of them per thread, or as fast as
// possible if it is 0.
[[noreturn]] void RecordForever(const fs::path& path, Truth* truth, int64_t per_second,
                                size_t ring_bytes) {
  auto recording =
      StartRecording(path, {.ring_bytes = ring_bytes, .commit_interval_ns = 5'000'000});
  if (!recording.ok()) _exit(3);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      NameThread(std::to_string(t));
      const auto begin = std::chrono::steady_clock::now();
      for (uint64_t i = 1;; ++i) {
        {
          XLAPROF_SITE(site, XLAPROF_SCOPE_SITE, "scope", nullptr);
          Trace scope(site);
          scope.FlowOut(i);
        }
        truth->threads[t].completed.store(i, std::memory_order_release);
        if (per_second == 0 || i % 256 != 0) continue;
        while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() *
                   double(per_second) <
               double(i)) {
        }
      }
    });
  }
  pause();
  _exit(4);
}

struct Counts {
  int64_t events = 0, twice = 0, last = 0, dropped = 0;
};

Counts CountScopes(const Store& store, const std::string& thread) {
  Counts counts;
  int64_t track_id = 0;
  EXPECT_TRUE(store
                  .Each(
                      "SELECT t.id, coalesce(r.dropped, 0) FROM track t LEFT JOIN recording_thread "
                      "r ON r.track_id = t.id WHERE t.name = ?1",
                      [&](int64_t id, int64_t dropped) {
                        track_id = id;
                        counts.dropped += dropped;
                      },
                      thread)
                  .ok());
  if (track_id == 0) return counts;
  auto scanner =
      EventScanner::Make(store, {.columns = kDuration | kFlowOut, .track_ids = {track_id}});
  EXPECT_TRUE(scanner.ok());
  std::vector<bool> seen;
  EventBatch batch;
  while (*scanner->Next(&batch)) {
    for (size_t i = 0; i < batch.size; ++i) {
      if (batch.dur_ns[i] == kUnknownDuration) continue;
      const uint64_t number = batch.flow_out[i];
      if (number >= seen.size()) seen.resize(std::max<size_t>(number + 1, 2 * seen.size()));
      counts.twice += seen[number];
      seen[number] = true;
      ++counts.events;
      counts.last = std::max(counts.last, int64_t(number));
    }
  }
  return counts;
}

class Kill : public testing::Test {
 protected:
  Kill() {
    std::string name = fs::temp_directory_path() / "xlaprof-kill-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    truth_ = static_cast<Truth*>(
        mmap(nullptr, sizeof(Truth), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  }
  ~Kill() override {
    munmap(truth_, sizeof(Truth));
    std::error_code error;
    fs::remove_all(folder_, error);
  }
  static int Kills() {
    const char* kills = std::getenv("XLAPROF_KILLS");
    return kills == nullptr ? 12 : std::atoi(kills);
  }

  // Records, kills the process after a random time, recovers and compares.
  void Once(int number, int64_t per_second, size_t ring_bytes, bool may_drop) {
    const fs::path path = folder_ / fmt::format("{}.xlaprof", number);
    for (auto& thread : truth_->threads) thread.completed = 0;
    const pid_t child = fork();
    if (child == 0) RecordForever(path, truth_, per_second, ring_bytes);
    usleep(unsigned(5000 + random_() % 150'000));
    // Nothing is recovered from a recording that still runs.
    if (number % 4 == 0 && fs::exists(RingPath(path))) {
      auto taken = RecoverRecording(path);
      EXPECT_FALSE(taken.ok() && taken->events > 0);
    }
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        << "it ended by itself: " << status;
    if (!fs::exists(path)) return;  // killed before it began

    auto recovered = RecoverRecording(path);
    if (!recovered.ok() && truth_->threads[0].completed == 0 && truth_->threads[1].completed == 0)
      return;  // killed while the store was being made
    ASSERT_TRUE(recovered.ok()) << recovered.status();
    EXPECT_EQ(RecoverRecording(path)->events, 0);
    EXPECT_FALSE(fs::exists(RingPath(path)));
    auto store = Store::Open(path);
    if (!store.ok() && truth_->threads[0].completed == 0 && truth_->threads[1].completed == 0)
      return;  // killed while the store was being made
    ASSERT_TRUE(store.ok()) << store.status();
    EXPECT_EQ(store->One<std::string>("PRAGMA integrity_check").value(), "ok");
    for (int t = 0; t < kThreads; ++t) {
      const auto truth = int64_t(truth_->threads[t].completed.load());
      const Counts counts = CountScopes(*store, std::to_string(t));
      EXPECT_EQ(counts.twice, 0);
      const int64_t found = counts.events + counts.dropped;
      EXPECT_TRUE(found == truth || found == truth + 1)
          << "thread " << t << " completed " << truth << ", found " << counts.events << " and "
          << counts.dropped << " dropped";
      if (!may_drop) {
        EXPECT_EQ(counts.dropped, 0);
        EXPECT_EQ(counts.last, counts.events);
      }
      events_ += counts.events, dropped_ += counts.dropped;
    }
  }

  fs::path folder_;
  Truth* truth_ = nullptr;
  std::mt19937 random_{20261121};
  int64_t events_ = 0, dropped_ = 0;
};

// The threads record five million scopes per second. The ring holds all of them until the process
// is killed, even on a slow machine.
TEST_F(Kill, NothingIsLostWhileTheRingSuffices) {
  for (int i = 0; i < Kills() && !HasFailure(); ++i)
    Once(i, 2'500'000, size_t(16) << 20, /*may_drop=*/false);
  RecordProperty("events", std::to_string(events_));
}

TEST_F(Kill, AtFullSpeedWithRingsThatWrap) {
  for (int i = 0; i < Kills() && !HasFailure(); ++i) Once(i, 0, size_t(1) << 20, /*may_drop=*/true);
  RecordProperty("events", std::to_string(events_));
  RecordProperty("dropped", std::to_string(dropped_));
}

}  // namespace
}  // namespace xlaprof
