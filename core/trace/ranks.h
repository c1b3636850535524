// Runs a function as several ranks, each in a thread with a device of its own.
#pragma once

#include <exception>
#include <functional>
#include <span>
#include <string>

#include "core/trace/tensor.h"

namespace xlaprof::lazy {

namespace internal {

struct Failure {
  std::exception_ptr error;  // null: nothing failed
  std::string why;
};
// Calls `fn`, waits until the device has nothing left to do, and ends the device's rank. Returns
// what was raised, or the error that another rank caused; the rank has not ended then.
Failure RunAsRank(Device& device, const std::function<void()>& fn);

}  // namespace internal

// Calls `fn` once per device, all at the same time, and returns when all are done and the devices
// have nothing left to do. In a call, the device is the thread's Device::Default(), and the rank is
// the device's index. The devices must have nothing to do, and be in no other run_ranks().
//
// If a rank raises, the others raise at their next collective or step mark, and run_ranks raises
// the first error, as an Error if it is not a std::exception. Before that it waits for all ranks;
// if one does not return soon, it prints the error and which ranks it waits for.
void run_ranks(std::span<Device* const> devices,
               const std::function<void(int64_t rank, Device& device)>& fn,
               Where where = Where::current());

}  // namespace xlaprof::lazy
