// Text of files that may be damaged, as the UTF-8 that a store holds.
#pragma once

#include <string>
#include <string_view>

namespace xlaprof {

// How many bytes of `text` from its beginning are whole UTF-8 sequences (no overlong ones, no
// surrogates).
size_t ValidUtf8Prefix(std::string_view text);

// `text` with U+FFFD for each byte that is part of no valid sequence.
std::string ToUtf8(std::string_view text);

}  // namespace xlaprof
