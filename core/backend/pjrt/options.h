// Writes the options of a compilation as PJRT takes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace xlaprof::lazy::pjrt {

// Returns a serialized xla.CompileOptionsProto for one replica and one partition, which run on the
// device of `platform` with this number. All other options have XLA's defaults, except that minima
// and maxima are NaN if an operand is, as in PyTorch and on the native backend: XLA's CPU would lose
// NaN by default.
std::string CompileOptions(int64_t device_id, std::string_view platform);

}  // namespace xlaprof::lazy::pjrt
