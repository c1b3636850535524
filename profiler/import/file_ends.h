// The beginning and the end of a file, by which its format is known: cheap, whatever its size.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace xlaprof {

struct FileEnds {
  // What Recognise looks at, decompressed and decoded as InputFile does it: all of a small file,
  // else its first 64 KiB with the last behind them.
  std::string bytes;
  bool has_last = true;  // false: they could not be had without unpacking all of it
};

// Nothing where `path` is no regular file, or cannot be read.
std::optional<FileEnds> EndsOf(const std::filesystem::path& path);
// The same for bytes that lie somewhere already.
FileEnds EndsOf(std::string_view bytes);

// The first `limit` bytes, or fewer, behind the gzip or zstd that begins with `packed`; "" when
// they cannot be had.
std::string Unpacked(std::string_view packed, size_t limit);

}  // namespace xlaprof
