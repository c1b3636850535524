// Reads the files in a tar or zip archive, compressed or not, and the output of the cells of a
// Jupyter notebook. Both are recognised by their bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "profiler/import/byte_sink.h"
#include "profiler/import/file_ends.h"

namespace xlaprof {

// The origin of the bytes of an archive.
struct ArchiveOrigin {
  std::string damage;     // damage of the compression around the bytes; "" if none
  size_t disk_bytes = 0;  // compressed size; 0: they are not compressed
  size_t in_memory_bytes = kInMemoryBytes;
};

class Archive {
 public:
  struct Member {
    std::string name;         // relative path with /; distinct, without control characters,
                              // "..", or anything else that leads out of the archive
    std::string_view bytes;   // valid as long as the archive; only the beginning if unwanted
    int64_t size_bytes = 0;   // size of the whole member
    int64_t modified_ns = 0;  // Unix time
    std::string damage;       // why some of the bytes are missing; "" if none are
  };

  // Returns whether a member that begins like this is worth reading. `head` is its first 64 KiB.
  using Wanted = std::function<bool(std::string_view head)>;

  // Returns whether a file of which these are the ends begins like an archive.
  static bool Is(const FileEnds& ends);
  // Reads the members that are regular files. Of unwanted ones it keeps only the beginning. The
  // bytes are kept in memory, or in an unnamed file if they are more than `in_memory_bytes`
  // together. Fails if the file is unreadable or no member could be read.
  static absl::StatusOr<std::shared_ptr<const Archive>> Open(
      const std::filesystem::path& path, const Wanted& wanted,
      size_t in_memory_bytes = kInMemoryBytes);
  // Does the same for bytes that the caller has already; `name` is for messages.
  static absl::StatusOr<std::shared_ptr<const Archive>> OfBytes(const std::string& name,
                                                                std::string_view bytes,
                                                                const Wanted& wanted,
                                                                ArchiveOrigin origin = {});
  ~Archive();

  std::span<const Member> members() const;
  // Releases the memory of a member's bytes if they are mapped from a file, because they will
  // hardly be read again.
  void Forget(size_t member) const;
  // Returns why not everything could be read, in one sentence; "" if all is well.
  const std::string& damage() const;
  int64_t skipped() const;         // links, devices and encrypted members
  size_t in_memory_bytes() const;  // memory that its members take

 private:
  struct Impl;
  explicit Archive(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Returns `name` as a harmless relative path: without ".", ".." and a leading slash, with _ for
// control characters and slashes for backslashes. Returns "unnamed" if nothing is left.
std::string HarmlessName(std::string_view name);

}  // namespace xlaprof
