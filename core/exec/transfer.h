// Copies between host and device. Copies are timed, counted and announced, except those of
// Device::Host().
#pragma once

#include <source_location>

#include "core/exec/data.h"

namespace xlaprof::lazy {

// Copies a dense, row-major tensor of `shape` from `host`. A device that consists of several
// divides it by the sharding. Raises an Error if the device cannot take it.
Ref<Data> Upload(Device& device, const void* host, Shape shape, std::source_location where,
                 const Sharding& sharding = {});
// Waits for the data, and copies `data.shape().bytes()` bytes to `host`.
absl::Status Download(const Data& data, void* host, std::source_location where);

}  // namespace xlaprof::lazy
