// Runs a function as several ranks, each in a thread with a device of its own.
#pragma once

#include <functional>
#include <span>

#include "core/trace/tensor.h"

namespace xlaprof::lazy {

// Calls `fn` once per device, all at the same time, and returns when all are done and the devices
// have nothing left to do. In a call, the device is the thread's Device::Default(), and the rank is
// the device's index. The devices must have nothing to do, and be in no other run_ranks().
//
// If a rank raises, the others raise at their next collective or step mark, and run_ranks raises
// the first error.
void run_ranks(std::span<Device* const> devices,
               const std::function<void(int64_t rank, Device& device)>& fn,
               Where where = Where::current());

}  // namespace xlaprof::lazy
