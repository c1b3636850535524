// A rank: one of several devices on which the same program runs with different data.
#pragma once

#include <memory>

#include "core/backend/peers.h"
#include "core/exec/board.h"

namespace xlaprof::lazy {

class Rank {
 public:
  Rank(std::shared_ptr<Board> board, int64_t number) : board_(std::move(board)), number_(number) {}

  int64_t number() const { return number_; }
  int64_t ranks() const { return board_->ranks(); }
  Board& board() const { return *board_; }
  // Returns whether it is the only rank of its process, or the first. The steps of the others are
  // the same, so only this one's are told.
  bool is_first_of_process() const { return board_->descriptor() >= 0 || number_ == 0; }

 private:
  friend class RankPeers;
  const std::shared_ptr<Board> board_;
  const int64_t number_;
  uint32_t meetings_ = 0;  // at which it was; only the thread that works for the device uses it
};

// The peers of a rank during one execution.
class RankPeers final : public Peers {
 public:
  // `where` names the step and the graph.
  RankPeers(Rank& rank, Whereabouts where) : rank_(rank), where_(std::move(where)) {}

  int64_t rank() const override { return rank_.number(); }
  int64_t size() const override { return rank_.ranks(); }
  absl::StatusOr<std::span<const std::span<const char>>> Meet(
      int64_t place, std::string_view what, std::span<const char> own) override {
    where_.place = place;
    where_.what = what;
    return rank_.board().Meet(rank_.number(), ++rank_.meetings_, where_, own, &offered_);
  }
  absl::Status Leave() override { return rank_.board().Leave(rank_.number(), rank_.meetings_); }

 private:
  Rank& rank_;
  Whereabouts where_;
  std::vector<std::span<const char>> offered_;
};

}  // namespace xlaprof::lazy
