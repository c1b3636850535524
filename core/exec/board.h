// The memory that the ranks of a job share: who is where, and what each offers to the others. The
// ranks are threads of one process, or processes of one machine.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "core/ir/hash.h"

namespace xlaprof::lazy {

// The place of a rank in its program, for errors and to compare ranks.
struct Whereabouts {
  int64_t step = 0;   // steps that its device has ended
  int64_t place = 0;  // the index of the instruction in the graph
  Hash graph;
  std::string graph_name, what;    // SyncTensorsGraph.3; all_reduce of f32[4] to f32[4]
  std::string_view input_shapes;  // of the graph, separated by spaces
};

class Board {
 public:
  // Makes a board for ranks that are threads of this process.
  static std::shared_ptr<Board> ForThreads(int64_t ranks);
  // Makes a board for processes, in a file without a name, which they open by its descriptor.
  static absl::StatusOr<std::shared_ptr<Board>> ForProcesses(int64_t ranks);
  // Opens the board of a descriptor that another process made. Closes the descriptor.
  static absl::StatusOr<std::shared_ptr<Board>> Open(int descriptor);
  ~Board();
  Board(const Board&) = delete;

  int64_t ranks() const;
  int descriptor() const { return descriptor_; }

  // Waits until each rank has come to its meeting `number`, which counts from 1, and returns what
  // all offer, by rank. See Peers::Meet.
  absl::StatusOr<std::span<const std::span<const char>>> Meet(
      int64_t rank, uint32_t number, const Whereabouts& where, std::span<const char> own,
      std::vector<std::span<const char>>* offered);
  absl::Status Leave(int64_t rank, uint32_t number);

  // Says that a rank makes no more meetings. Ranks that wait for it, now or later, get an error:
  // that it ended after so many steps, or `why` if it failed.
  void End(int64_t rank, int64_t steps);
  void Fail(int64_t rank, std::string_view why);
  // From now on no rank of this process waits for others: a meeting to which not all have come is
  // an error. The program ends. Ranks of other processes are told when this one is gone.
  void StopWaiting();
  // Returns whether a rank ended without failing.
  bool has_ended(int64_t rank) const;
  // Returns the error that all ranks got, or OK.
  absl::Status status() const;

 private:
  struct Shared;
  struct Seat;

  Board(Shared* shared, size_t bytes, int descriptor)
      : shared_(shared), bytes_(bytes), descriptor_(descriptor) {}
  static absl::StatusOr<std::shared_ptr<Board>> Map(int descriptor, int64_t ranks);

  // Waits until `is_done`, or returns the error for which that will never be.
  template <class F>
  absl::Status WaitUntil(int64_t rank, uint32_t number, F is_done);
  // Ends all meetings with this error, unless they ended before.
  absl::Status Break(std::string_view why);
  void Announce();
  // Returns an error if a rank that has not come to meeting `number` will not come.
  absl::Status MissingRank(int64_t rank, uint32_t number);
  absl::Status Compare();

  Shared* const shared_;
  const size_t bytes_;
  const int descriptor_;  // -1: the ranks are threads
  std::atomic<bool> waits_{true};
};

}  // namespace xlaprof::lazy
