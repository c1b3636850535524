// Decompresses a part of a file that is in memory.
#pragma once

#include <string>
#include <string_view>

namespace xlaprof {

// Sets `out` to what a zlib or gzip stream holds, at most `most` bytes of it. Returns false if the
// stream is damaged, ends early or holds more; what could be decompressed is kept.
bool Inflate(std::string_view packed, size_t most, std::string* out);

}  // namespace xlaprof
