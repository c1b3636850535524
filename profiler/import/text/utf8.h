// Converts text of files that may be damaged to the UTF-8 that a store holds.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace xlaprof {

// Returns how many bytes from the beginning of `text` are whole UTF-8 sequences (no overlong ones,
// no surrogates).
size_t ValidUtf8Prefix(std::string_view text);

// Returns `text` with U+FFFD for each byte that is NUL or not part of a valid sequence, and adds
// the number of those bytes to *bad unless `bad` is null.
std::string ToUtf8(std::string_view text, int64_t* bad = nullptr);

// Returns `text` as UTF-8, with "..." for what comes after its first 1,000 bytes.
std::string ToBoundedUtf8(std::string_view text);

// Adds the UTF-8 of one code point to `text`. A surrogate becomes three bytes that are not valid
// UTF-8.
void AppendUtf8(uint32_t code, std::string& text);

// Adds the UTF-8 of `utf16` to `text`. A surrogate without its other half becomes three bytes that
// are not valid UTF-8, so that whoever counts such bytes counts it, too. Returns how many bytes
// were taken. It takes neither a single byte at the end, nor a first half whose other half may
// still come.
size_t AppendUtf16(std::string_view utf16, std::endian order, std::string& text);

}  // namespace xlaprof
