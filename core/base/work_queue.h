// Work that is done meanwhile: pieces are filled by their owner, worked on one after the other, and
// taken back in the order in which they were filled.
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

// Who works on a piece.
enum class Worker {
  kOwner,   // at once, unless a thread was started already
  kThread,  // one of the queue's own
  kAnyone,  // who calls Help(); the owner, where it would wait for the piece
};

// One owner; what it does in which order does not depend on who works.
template <class Piece, size_t kPieces>
class WorkQueue {
 public:
  // `meanwhile` is what the owner does instead of waiting, in short pieces; false: there is nothing
  // to do.
  explicit WorkQueue(
      std::function<void(Piece&)> work, std::function<bool()> meanwhile = [] { return false; })
      : work_(std::move(work)), meanwhile_(std::move(meanwhile)) {}
  // Waits for the piece that is being worked on; those behind it are dropped.
  ~WorkQueue() {
    {
      std::unique_lock lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
      changed_.wait(lock, [&] { return !working_; });
    }
    if (thread_.joinable()) thread_.join();
  }
  WorkQueue(const WorkQueue&) = delete;

  bool empty() const { return taken_ == submitted_; }
  bool full() const { return submitted_ - taken_ == kPieces; }
  // The piece to fill next, with what it held last time; the queue is not full.
  Piece& Next() { return pieces_[submitted_ % kPieces]; }
  // Has the piece of Next() worked on.
  void Submit(Worker worker) {
    std::unique_lock lock(mutex_);
    wanted_ = ++submitted_;
    if (worker == Worker::kThread && !thread_.joinable()) thread_ = std::thread([this] { Run(); });
    if (worker == Worker::kOwner && !thread_.joinable()) WorkUntil(submitted_, lock);
    if (thread_waits_ && wanted_ >= done_ + kSome) changed_.notify_all();
  }
  // Waits for the oldest piece; the queue is not empty. Good until Release().
  const Piece& Oldest() {
    std::unique_lock lock(mutex_);
    for (bool more = true; more && done_ == taken_;) {
      lock.unlock();
      more = meanwhile_();
      lock.lock();
    }
    if (!thread_.joinable()) {
      WorkUntil(taken_ + 1, lock);
    } else if (done_ == taken_) {
      // To be woken costs both threads more than some pieces do: who must wait waits for several.
      owner_waits_for_ = std::min(submitted_, taken_ + kSome);
      changed_.notify_all();
      changed_.wait(lock, [&] { return done_ >= owner_waits_for_; });
    }
    return pieces_[taken_ % kPieces];
  }
  void Release() { ++taken_; }
  // Works on the oldest piece that waits. False: none does, or another is being worked on. On any
  // thread.
  bool Help() {
    std::unique_lock lock(mutex_);
    if (working_ || stopping_ || done_ == wanted_) return false;
    Work(lock);
    return true;
  }

 private:
  static constexpr size_t kSome = kPieces / 2;

  void Work(std::unique_lock<std::mutex>& lock) {
    Piece& piece = pieces_[done_ % kPieces];
    working_ = true;
    lock.unlock();
    work_(piece);
    lock.lock();
    working_ = false;
    if (++done_ >= owner_waits_for_ || thread_waits_ || stopping_) changed_.notify_all();
  }
  // Without a thread: until so many pieces are done.
  void WorkUntil(size_t count, std::unique_lock<std::mutex>& lock) {
    while (done_ < count) {
      if (working_) {
        owner_waits_for_ = done_ + 1;
        changed_.wait(lock, [&] { return !working_; });
      } else {
        Work(lock);
      }
    }
  }
  void Run() {
    std::unique_lock lock(mutex_);
    while (true) {
      thread_waits_ = true;
      changed_.wait(lock, [&] {
        return stopping_ || (!working_ && (wanted_ >= done_ + kSome || owner_waits_for_ > done_));
      });
      thread_waits_ = false;
      while (!stopping_ && !working_ && done_ < wanted_) Work(lock);
      if (stopping_) return;
    }
  }

  const std::function<void(Piece&)> work_;
  const std::function<bool()> meanwhile_;
  std::array<Piece, kPieces> pieces_;
  size_t submitted_ = 0, taken_ = 0;  // the owner's own
  std::mutex mutex_;
  std::condition_variable changed_;
  // Pieces submitted, worked on so far, and to be worked on before the owner goes on; under mutex_.
  size_t wanted_ = 0, done_ = 0, owner_waits_for_ = 0;
  bool working_ = false, thread_waits_ = false, stopping_ = false;
  std::thread thread_;
};

}  // namespace xlaprof
