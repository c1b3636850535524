// Compresses bytes again that were decompressed to look into them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace xlaprof {

enum class DeflateForm : uint8_t { kRaw, kGzip };

absl::StatusOr<std::string> Deflated(std::string_view bytes, DeflateForm form);
absl::StatusOr<std::string> Zstd(std::string_view bytes);

}  // namespace xlaprof
