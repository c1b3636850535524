#include "core/trace/ranks.h"

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "core/exec/call.h"
#include "core/exec/rank.h"

namespace xlaprof::lazy {
namespace {

// The first error of all ranks. Those of others may follow from it.
class FirstError {
 public:
  void Note(std::exception_ptr error) {
    std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
  }
  void Raise() {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
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
void RunRank(Device& device, const std::function<void(int64_t, Device&)>& fn, FirstError* first) {
  const Rank& rank = *device.rank();
  pthread_setname_np(pthread_self(), fmt::format("rank {}", rank.number()).c_str());
  Device::OfThread of_thread(device);
  const auto run = [&] { fn(rank.number(), device); };
  if (const internal::Failure failure = internal::RunAsRank(device, run); failure.error) {
    first->Note(failure.error);  // before others get errors that follow from it
    rank.board().Fail(rank.number(), failure.why);
  }
  device.WaitForAll();
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
  FirstError first;
  std::vector<std::thread> threads;
  for (Device* device : devices)
    threads.emplace_back([&, device] { RunRank(*device, fn, &first); });
  for (std::thread& thread : threads) thread.join();
  for (Device* device : devices) device->set_rank(nullptr);
  first.Raise();
}

}  // namespace xlaprof::lazy
