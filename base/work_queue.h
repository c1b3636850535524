// A queue between its owner and one worker thread. The owner fills pieces, the thread works on them
// one after the other, and the owner takes them back in the order in which it filled them.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace xlaprof {

// Only the owner may call its functions.
template <class Piece, size_t kPieces>
class WorkQueue {
 public:
  explicit WorkQueue(std::function<void(Piece&)> work) : work_(std::move(work)) {}
  // Waits for the piece that is being worked on and drops those after it.
  ~WorkQueue() {
    if (!thread_.joinable()) return;
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  WorkQueue(const WorkQueue&) = delete;

  bool empty() const { return taken_ == submitted_; }
  bool full() const { return submitted_ - taken_ == kPieces; }
  // Returns the piece to fill next, with what it held last time. The queue must not be full.
  Piece& Next() { return pieces_[submitted_ % kPieces]; }
  // Hands the piece of Next() to the worker thread. Until a large piece has started the thread,
  // small ones are worked on here, because they take less time than starting a thread.
  void Submit(bool is_large) {
    if (!is_large && !thread_.joinable()) {
      work_(Next());
      ++submitted_;
      ++done_;
      return;
    }
    {
      std::lock_guard lock(mutex_);
      ++submitted_;
    }
    changed_.notify_all();
    if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
  }
  // Waits for the oldest piece, which stays valid until Release(). The queue must not be empty.
  const Piece& Oldest() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_ > taken_; });
    return pieces_[taken_ % kPieces];
  }
  void Release() { ++taken_; }

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stopping_ || done_ < submitted_; });
      if (stopping_) return;
      Piece& piece = pieces_[done_ % kPieces];
      lock.unlock();
      work_(piece);
      lock.lock();
      ++done_;
      changed_.notify_all();
    }
  }

  const std::function<void(Piece&)> work_;
  std::array<Piece, kPieces> pieces_;
  size_t taken_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Counts of pieces. Only the owner writes submitted_, so it reads that without the mutex.
  size_t submitted_ = 0, done_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace xlaprof
