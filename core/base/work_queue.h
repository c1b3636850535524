// Work that a thread of its own does meanwhile: pieces are filled by their owner, worked on one
// after the other, and taken back in the order in which they were filled.
#pragma once

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace xlaprof {

// One owner; what it does in which order does not depend on the thread's speed.
template <class Piece>
class WorkQueue {
 public:
  explicit WorkQueue(std::function<void(Piece&)> work) : work_(std::move(work)) {}
  // Waits for the piece that is being worked on; those behind it are dropped.
  ~WorkQueue() {
    if (!thread_.joinable()) return;
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }
  WorkQueue(const WorkQueue&) = delete;

  bool empty() const { return taken_ == submitted_; }
  bool full() const { return submitted_ - taken_ == kPieces; }
  // The piece to fill next, with what it held last time; the queue is not full.
  Piece& Next() { return pieces_[submitted_ % kPieces]; }
  // Works on the piece of Next(): meanwhile, from the first one on that is worth a thread; else
  // now.
  void Submit(bool worth_thread) {
    Piece& piece = pieces_[submitted_++ % kPieces];
    if (!thread_.joinable()) {
      if (!worth_thread) {
        work_(piece);
        done_ = wanted_ = submitted_;
        return;
      }
      thread_ = std::thread([this] { Run(); });
    }
    std::lock_guard lock(mutex_);
    wanted_ = submitted_;
    changed_.notify_all();
  }
  // Waits for the oldest piece; the queue is not empty. Good until Release().
  const Piece& Oldest() {
    if (thread_.joinable()) {
      std::unique_lock lock(mutex_);
      // To be woken costs both threads more than some pieces do: who must wait waits for several.
      if (done_ == taken_) owner_waits_for_ = std::min(submitted_, taken_ + kPieces / 2);
      changed_.wait(lock, [&] { return done_ > taken_ && done_ >= owner_waits_for_; });
    }
    return pieces_[taken_ % kPieces];
  }
  void Release() { ++taken_; }

 private:
  static constexpr size_t kPieces = 4;

  void Run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stopping_ || done_ < wanted_; });
      if (stopping_) return;
      Piece& piece = pieces_[done_ % kPieces];
      lock.unlock();
      work_(piece);
      lock.lock();
      if (++done_ == owner_waits_for_) changed_.notify_all();
    }
  }

  const std::function<void(Piece&)> work_;
  std::array<Piece, kPieces> pieces_;
  size_t submitted_ = 0, taken_ = 0;  // the owner's own
  std::mutex mutex_;
  std::condition_variable changed_;
  // Pieces submitted, worked on so far, and to be worked on before the owner goes on; under mutex_.
  size_t wanted_ = 0, done_ = 0, owner_waits_for_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace xlaprof
