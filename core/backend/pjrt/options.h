// Writes the options of a compilation as PJRT takes them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace xlaprof::lazy::pjrt {

// Returns a serialized xla.CompileOptionsProto for one partition and as many replicas as there are
// numbers of devices. Replica i runs on the device of `platform` with number i of the list. All other
// options have XLA's defaults, except that minima and maxima are NaN if an operand is, as in PyTorch
// and on the native backend: XLA's CPU would lose NaN by default.
std::string CompileOptions(std::span<const int64_t> device_ids, std::string_view platform);

}  // namespace xlaprof::lazy::pjrt
