// The beginning and the end of a file, by which its format is recognised cheaply, whatever its
// size.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace xlaprof {

struct FileEnds {
  // The bytes that Recognise looks at, decompressed and decoded as InputFile does it: all of a
  // small file, otherwise its first 64 KiB followed by its last.
  std::string bytes;
  bool has_last = true;  // false: the last bytes would need unpacking all of it
};

// Returns nothing if `path` is not a regular file, or cannot be read.
std::optional<FileEnds> EndsOf(const std::filesystem::path& path);
// Does the same for bytes that the caller has already.
FileEnds EndsOf(std::string_view bytes);

// Returns the first `limit` bytes, or fewer, of the content of the gzip or zstd data that begins
// with `packed`. Returns "" if nothing can be decompressed.
std::string Unpacked(std::string_view packed, size_t limit);

}  // namespace xlaprof
