#include "core/exec/board.h"

#include <absl/strings/str_split.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>

#include "base/clock_ns.h"
#include "core/environment.h"

namespace xlaprof::lazy {
namespace {

// A waiting rank looks this often whether those that it waits for are still there.
constexpr int64_t kLookNs = 100'000'000;
// A process can offer at most this much at once. Memory that is not used is not allocated.
constexpr size_t kOfferedBytes = size_t{16} << 30;

template <size_t n>
void Put(std::string_view text, char (&to)[n]) {
  const size_t count = std::min(text.size(), n - 1);
  std::memcpy(to, text.data(), count);
  to[count] = 0;
}

// Waits until `word` is no longer `seen`, or for a while.
void WaitForChange(const std::atomic<uint32_t>& word, uint32_t seen) {
  const timespec most{0, kLookNs};
  syscall(SYS_futex, &word, FUTEX_WAIT, seen, &most, nullptr, 0);
}

void WakeAll(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

// A rank's part. Only the rank writes it, or the process that started it once it is gone.
struct alignas(64) Board::Seat {
  enum State : uint32_t { kHere, kEnded, kFailed };
  std::atomic<uint32_t> arrived, left;  // the newest meeting to which it came, and which it left
  std::atomic<uint32_t> state;
  int64_t steps;  // that it had made when it ended
  char why[512];  // it failed

  // The members below say what it offers at the newest meeting, and where.
  int64_t step, place;
  Hash graph;
  char graph_name[64], what[192], input_shapes[1024];
  const char* address;  // for threads; processes offer the memory behind the seats
  uint64_t bytes;
};

struct alignas(64) Board::Shared {
  int64_t ranks;
  std::atomic<uint32_t> changes;
  std::atomic<uint32_t> broken;  // 1: being written, 2: `why` is there
  char why[1024];
  Seat* seats() { return reinterpret_cast<Seat*>(this + 1); }
  char* offered(int64_t rank) {
    return reinterpret_cast<char*>(this) + SeatBytes(ranks) + size_t(rank) * kOfferedBytes;
  }
  static size_t SeatBytes(int64_t ranks) {
    const size_t bytes = sizeof(Shared) + size_t(ranks) * sizeof(Seat);
    return (bytes + 4095) / 4096 * 4096;
  }
};

absl::StatusOr<std::shared_ptr<Board>> Board::Map(int descriptor, int64_t ranks) {
  static_assert(sizeof(Shared) % alignof(Seat) == 0);
  static_assert(std::atomic<uint32_t>::is_always_lock_free);
  size_t bytes = Shared::SeatBytes(ranks);
  if (descriptor >= 0) bytes += size_t(ranks) * kOfferedBytes;
  const int flags = descriptor < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED | MAP_NORESERVE;
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
  if (at == MAP_FAILED)
    return IoError("{} bytes of address space for {} ranks: {}", bytes, ranks,
                   std::strerror(errno));
  return std::shared_ptr<Board>(new Board(static_cast<Shared*>(at), bytes, descriptor));
}

std::shared_ptr<Board> Board::ForThreads(int64_t ranks) {
  auto board = Map(-1, ranks);
  XP_CHECK(board.ok());
  (*board)->shared_->ranks = ranks;
  return *std::move(board);
}

absl::StatusOr<std::shared_ptr<Board>> Board::ForProcesses(int64_t ranks) {
  const int descriptor = memfd_create("xlaprof ranks", MFD_CLOEXEC);
  if (descriptor < 0) return IoError("memory for ranks: {}", std::strerror(errno));
  if (ftruncate(descriptor, off_t(Shared::SeatBytes(ranks) + size_t(ranks) * kOfferedBytes)) < 0) {
    close(descriptor);
    return IoError("memory for ranks: {}", std::strerror(errno));
  }
  XP_TRY(std::shared_ptr<Board> board, Map(descriptor, ranks));
  board->shared_->ranks = ranks;
  return board;
}

absl::StatusOr<std::shared_ptr<Board>> Board::Open(int descriptor) {
  int64_t ranks = 0;
  if (pread(descriptor, &ranks, sizeof ranks, 0) != sizeof ranks || ranks < 1)
    return Invalid("descriptor {} is not a board of ranks", descriptor);
  return Map(descriptor, ranks);
}

Board::~Board() {
  munmap(shared_, bytes_);
  if (descriptor_ >= 0) close(descriptor_);
}

int64_t Board::ranks() const { return shared_->ranks; }

void Board::Announce() {
  shared_->changes.fetch_add(1, std::memory_order_release);
  WakeAll(shared_->changes);
}

absl::Status Board::status() const {
  if (shared_->broken.load(std::memory_order_acquire) != 2) return absl::OkStatus();
  return absl::AbortedError(shared_->why);
}

absl::Status Board::Break(std::string_view why) {
  uint32_t none = 0;
  if (shared_->broken.compare_exchange_strong(none, 1)) {
    Put(why, shared_->why);
    shared_->broken.store(2, std::memory_order_release);
    Announce();
  }
  while (shared_->broken.load(std::memory_order_acquire) != 2) continue;
  return status();
}

void Board::StopWaiting() {
  waits_.store(false, std::memory_order_relaxed);
  Announce();
}

absl::Status Board::MissingRank(int64_t rank, uint32_t number) {
  const Seat& own = shared_->seats()[rank];
  for (int64_t other = 0; other < ranks(); ++other) {
    const Seat& seat = shared_->seats()[other];
    if (int32_t(seat.arrived.load(std::memory_order_acquire) - number) >= 0) continue;
    switch (seat.state.load(std::memory_order_acquire)) {
      case Seat::kHere:
        continue;
      case Seat::kFailed:
        return Break(fmt::format("rank {} failed: {}", other, seat.why));
      case Seat::kEnded:
        return Break(fmt::format(
            "rank {} ended after {} steps, but rank {} waits for it after {} steps, at {} in graph "
            "{} ({}). Let all ranks make the same number of steps, for example by dropping the "
            "batches that not all have",
            other, seat.steps, rank, own.step, own.what, own.graph_name, own.graph.ToText()));
    }
  }
  return absl::OkStatus();
}

template <class F>
absl::Status Board::WaitUntil(int64_t rank, uint32_t number, F is_done) {
  const int64_t most_ns = environment().collective_timeout_s * 1'000'000'000;
  const int64_t until_ns = ClockNs(CLOCK_MONOTONIC) + most_ns;
  while (true) {
    const uint32_t seen = shared_->changes.load(std::memory_order_acquire);
    XP_TRY(status());
    if (is_done()) return absl::OkStatus();
    if (!waits_.load(std::memory_order_relaxed))
      return absl::CancelledError(fmt::format("rank {}: the program has ended", rank));
    XP_TRY(MissingRank(rank, number));
    if (ClockNs(CLOCK_MONOTONIC) > until_ns) {
      const Seat& own = shared_->seats()[rank];
      std::string missing;
      for (int64_t other = 0; other < ranks(); ++other) {
        if (shared_->seats()[other].arrived.load() < number)
          missing += fmt::format("{}{}", missing.empty() ? "" : ", ", other);
      }
      return Break(fmt::format(
          "rank {} waited for {} s for rank {}, after {} steps, at {} in graph {} ({}). If it only "
          "needs longer, raise XLAPROF_COLLECTIVE_TIMEOUT_S",
          rank, environment().collective_timeout_s, missing, own.step, own.what, own.graph_name,
          own.graph.ToText()));
    }
    WaitForChange(shared_->changes, seen);
  }
}

// Returns the first input that differs, for an error, or nothing.
static std::string DifferentInput(int64_t a, std::string_view of_a, int64_t b,
                                  std::string_view of_b) {
  const auto split = [](std::string_view shapes) -> std::vector<std::string> {
    return absl::StrSplit(absl::string_view(shapes.data(), shapes.size()), ' ', absl::SkipEmpty());
  };
  const std::vector<std::string> in_a = split(of_a), in_b = split(of_b);
  for (size_t i = 0; i < std::min(in_a.size(), in_b.size()); ++i) {
    if (in_a[i] != in_b[i])
      return fmt::format(" Input {} is {} on rank {} and {} on rank {}.", i, in_a[i], a, in_b[i], b);
  }
  if (in_a.size() != in_b.size())
    return fmt::format(" The graph has {} inputs on rank {} and {} on rank {}.", in_a.size(), a,
                       in_b.size(), b);
  return "";
}

// Returns an error if the ranks that met run different programs.
absl::Status Board::Compare() {
  const Seat& first = shared_->seats()[0];
  for (int64_t rank = 1; rank < ranks(); ++rank) {
    const Seat& other = shared_->seats()[rank];
    if (other.graph == first.graph && other.place == first.place) continue;
    const auto text = [](int64_t of, const Seat& seat) {
      return fmt::format("rank {} is at {} in graph {} ({}) after {} steps", of, seat.what,
                         seat.graph_name, seat.graph.ToText(), seat.step);
    };
    return Break(fmt::format(
        "the ranks run different graphs: {}, and {}.{} Give all ranks batches of the same size (pad "
        "them, or drop the last), and let all read the same values and mark the same steps",
        text(0, first), text(rank, other),
        DifferentInput(0, first.input_shapes, rank, other.input_shapes)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::span<const std::span<const char>>> Board::Meet(
    int64_t rank, uint32_t number, const Whereabouts& where, std::span<const char> own,
    std::vector<std::span<const char>>* offered) {
  XP_TRY(status());
  Seat& seat = shared_->seats()[rank];
  seat.step = where.step;
  seat.place = where.place;
  seat.graph = where.graph;
  Put(where.graph_name, seat.graph_name);
  Put(where.what, seat.what);
  Put(where.input_shapes, seat.input_shapes);
  seat.bytes = own.size();
  seat.address = own.data();
  if (descriptor_ >= 0) {
    if (own.size() > kOfferedBytes)
      return Break(fmt::format("{}: {} bytes are more than a process can offer at once, {}",
                               where.what, own.size(), kOfferedBytes));
    if (!own.empty()) std::memcpy(shared_->offered(rank), own.data(), own.size());
  }
  seat.arrived.store(number, std::memory_order_release);
  Announce();
  const std::span<Seat> seats(shared_->seats(), size_t(ranks()));
  XP_TRY(WaitUntil(rank, number, [&] {
    return std::ranges::all_of(seats, [&](const Seat& other) {
      return int32_t(other.arrived.load(std::memory_order_acquire) - number) >= 0;
    });
  }));
  XP_TRY(Compare());
  offered->clear();
  for (int64_t other = 0; other < ranks(); ++other) {
    const Seat& from = seats[size_t(other)];
    offered->emplace_back(descriptor_ >= 0 ? shared_->offered(other) : from.address, from.bytes);
  }
  return std::span<const std::span<const char>>(*offered);
}

absl::Status Board::Leave(int64_t rank, uint32_t number) {
  const std::span<Seat> seats(shared_->seats(), size_t(ranks()));
  seats[size_t(rank)].left.store(number, std::memory_order_release);
  Announce();
  return WaitUntil(rank, number, [&] {
    return std::ranges::all_of(seats, [&](const Seat& other) {
      return int32_t(other.left.load(std::memory_order_acquire) - number) >= 0;
    });
  });
}

void Board::End(int64_t rank, int64_t steps) {
  Seat& seat = shared_->seats()[rank];
  if (seat.state.load() != Seat::kHere) return;
  seat.steps = steps;
  seat.state.store(Seat::kEnded, std::memory_order_release);
  Announce();
}

bool Board::has_ended(int64_t rank) const {
  return shared_->seats()[rank].state.load(std::memory_order_acquire) == Seat::kEnded;
}

void Board::Fail(int64_t rank, std::string_view why) {
  Seat& seat = shared_->seats()[rank];
  if (seat.state.load() != Seat::kHere) return;
  Put(why, seat.why);
  seat.state.store(Seat::kFailed, std::memory_order_release);
  Announce();
}

}  // namespace xlaprof::lazy
