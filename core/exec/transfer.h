// Copies between host and device. Copies are timed, counted and announced, except those of
// Device::Host().
#pragma once

#include <source_location>
#include <vector>

#include "core/exec/data.h"

namespace xlaprof::lazy {

// Copies a dense, row-major tensor of `shape` from `host`. A device that consists of several
// divides it by the sharding. Raises an Error if the device cannot take it.
Ref<Data> Upload(Device& device, const void* host, Shape shape, std::source_location where,
                 const Sharding& sharding = {});
// Waits for the data, and returns its bytes. Returns an error if the device did not compute it, or
// if the host has no memory for it.
absl::StatusOr<std::vector<std::byte>> Download(const Data& data, std::source_location where);

}  // namespace xlaprof::lazy
