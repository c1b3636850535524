// The threads of several devices that run one program together.
#pragma once

#include <absl/functional/function_ref.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/backend/peers.h"

namespace xlaprof::lazy {

// One thread per device.
class Team {
 public:
  // `names` are those of the devices.
  explicit Team(const std::vector<std::string>& names);
  ~Team();
  Team(const Team&) = delete;

  // Calls `work` on each device's thread, with the device's number, and returns when all are done.
  // One thread at a time may call it.
  using Work = absl::FunctionRef<void(int64_t device)>;
  void Run(Work work);

 private:
  void Serve(int64_t device);

  std::mutex mutex_;
  std::condition_variable begun_, done_;
  const Work* work_ = nullptr;
  uint64_t runs_ = 0;
  size_t busy_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

// Lets the devices meet during one execution. They run one program, so they come to the same
// meetings unless one of them fails.
class Encounter {
 public:
  explicit Encounter(int64_t devices) : offers_(static_cast<size_t>(devices)) {}

  absl::StatusOr<std::span<const std::span<const char>>> Meet(int64_t device,
                                                              std::span<const char> own);
  // Waits until all devices are here.
  absl::Status Wait();
  // Ends this and all later meetings with an error. The first one counts.
  void Break(absl::Status why);
  // Returns the error, or OK.
  absl::Status status();

 private:
  absl::Status WaitFor(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::vector<std::span<const char>> offers_;
  size_t here_ = 0;
  uint64_t meetings_ = 0;
  absl::Status broken_;
};

// A device's view of it.
class DevicePeers final : public Peers {
 public:
  DevicePeers(Encounter& encounter, int64_t device, int64_t devices)
      : encounter_(encounter), device_(device), devices_(devices) {}

  int64_t rank() const override { return device_; }
  int64_t size() const override { return devices_; }
  absl::StatusOr<std::span<const std::span<const char>>> Meet(int64_t, std::string_view,
                                                              std::span<const char> own) override {
    return encounter_.Meet(device_, own);
  }
  absl::Status Leave() override { return encounter_.Wait(); }

 private:
  Encounter& encounter_;
  const int64_t device_, devices_;
};

}  // namespace xlaprof::lazy
