// Copies between host and device: timed, counted, announced, but for those of Device::Host().
#pragma once

#include <source_location>

#include "core/exec/data.h"

namespace xlaprof::lazy {

// A dense, row-major tensor of `shape` at `host`. Raises an Error where the device cannot take it.
Ref<Data> Upload(Device& device, const void* host, Shape shape, std::source_location where);
// Waits for it, and copies `data.shape().bytes()` bytes.
absl::Status Download(const Data& data, void* host, std::source_location where);

}  // namespace xlaprof::lazy
