#include "core/trace/ranks.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <mutex>
#include <thread>

#include "core/exec/call.h"
#include "core/exec/rank.h"

namespace xlaprof::lazy {
namespace {

// What is printed if the other ranks have not returned so long after one failed.
constexpr std::chrono::seconds kGrace{1};

// Which ranks have returned, and the first error of all. Errors of others may follow from it.
class Progress {
 public:
  explicit Progress(size_t ranks) : has_returned_(ranks) {}

  void NoteError(int64_t rank, const internal::Failure& failure) {
    std::lock_guard lock(mutex_);
    if (failed_ >= 0) return;
    failed_ = rank;
    first_ = failure;
    changed_.notify_all();
  }
  void NoteReturn(int64_t rank) {
    std::lock_guard lock(mutex_);
    has_returned_[size_t(rank)] = true;
    changed_.notify_all();
  }
  // Waits until all have returned. A rank that hangs would hide the error of another one, so it is
  // printed before.
  void Await(Where where) {
    std::unique_lock lock(mutex_);
    const auto all = [&] { return std::ranges::count(has_returned_, false) == 0; };
    changed_.wait(lock, [&] { return all() || failed_ >= 0; });
    if (changed_.wait_for(lock, kGrace, all)) return;
    std::string left;
    for (size_t rank = 0; rank < has_returned_.size(); ++rank)
      if (!has_returned_[rank]) left += fmt::format("{}{}", left.empty() ? "" : ", ", rank);
    fmt::print(stderr,
               "xlaprof: run_ranks: rank {} failed: {}\n  at {}:{}\nrun_ranks waits for rank {}, "
               "whose function has not returned\n",
               failed_, first_.why, where.file_name(), where.line(), left);
    changed_.wait(lock, all);
  }
  // Raises the first error, as an Error if it is not a std::exception.
  void Raise(Where where) {
    if (failed_ < 0) return;
    try {
      std::rethrow_exception(first_.error);
    } catch (const std::exception&) {
      throw;
    } catch (...) {
      Call call(where);
      RaiseHere("run_ranks: rank {} failed: {}", failed_, first_.why);
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> has_returned_;
  int64_t failed_ = -1;
  internal::Failure first_;
};

}  // namespace

namespace internal {

Failure RunAsRank(Device& device, const std::function<void()>& fn) {
  const Rank& rank = *device.rank();
  try {
    fn();
    device.WaitForAll();
    // A rank may only have noticed on its device that another one failed.
    if (absl::Status status = rank.board().status(); !status.ok()) Raise("{}", Message(status));
    rank.board().End(rank.number(), device.steps());
    return {};
  } catch (const std::exception& error) {
    return {std::current_exception(), error.what()};
  } catch (...) {
    return {std::current_exception(), "it raised what is not a std::exception"};
  }
}

}  // namespace internal

namespace {

// Runs one rank. Its device has the rank until all are done.
void RunRank(Device& device, const std::function<void(int64_t, Device&)>& fn, Progress* progress) {
  const Rank& rank = *device.rank();
  pthread_setname_np(pthread_self(), fmt::format("rank {}", rank.number()).c_str());
  Device::OfThread of_thread(device);
  const auto run = [&] { fn(rank.number(), device); };
  if (const internal::Failure failure = internal::RunAsRank(device, run); failure.error) {
    progress->NoteError(rank.number(), failure);  // before others get errors that follow from it
    rank.board().Fail(rank.number(), failure.why);
  }
  device.WaitForAll();
  progress->NoteReturn(rank.number());
}

}  // namespace

void run_ranks(std::span<Device* const> devices,
               const std::function<void(int64_t rank, Device& device)>& fn, Where where) {
  {
    Call call(where);
    if (devices.empty()) RaiseHere("run_ranks: there are no devices");
    for (size_t i = 0; i < devices.size(); ++i) {
      if (devices[i]->rank() != nullptr)
        RaiseHere("run_ranks: {} is a rank of another job", devices[i]->name());
      if (std::ranges::find(devices.first(i), devices[i]) != devices.begin() + ptrdiff_t(i))
        RaiseHere("run_ranks: {} is given twice", devices[i]->name());
    }
  }
  const std::shared_ptr<Board> board = Board::ForThreads(int64_t(devices.size()));
  for (size_t i = 0; i < devices.size(); ++i)
    devices[i]->set_rank(std::make_shared<Rank>(board, int64_t(i)));
  Progress progress(devices.size());
  std::vector<std::thread> threads;
  for (Device* device : devices)
    threads.emplace_back([&, device] { RunRank(*device, fn, &progress); });
  progress.Await(where);
  for (std::thread& thread : threads) thread.join();
  for (Device* device : devices) device->set_rank(nullptr);
  progress.Raise(where);
}

}  // namespace xlaprof::lazy
