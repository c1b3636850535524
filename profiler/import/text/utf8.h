// Text of files that may be damaged, as the UTF-8 that a store holds.
#pragma once

#include <bit>
#include <string>
#include <string_view>

namespace xlaprof {

// How many bytes of `text` from its beginning are whole UTF-8 sequences (no overlong ones, no
// surrogates).
size_t ValidUtf8Prefix(std::string_view text);

// `text` with U+FFFD for each byte that is part of no valid sequence.
std::string ToUtf8(std::string_view text);

// Adds the UTF-8 of `utf16` to `text`. A surrogate without its other half becomes three bytes that
// are no valid UTF-8, so that whoever counts such bytes counts it, too. Returns how many bytes were
// taken: neither an odd byte at the end, nor a first half whose other half may still come.
size_t AppendUtf16(std::string_view utf16, std::endian order, std::string& text);

}  // namespace xlaprof
