// A tar or zip archive, compressed or not, as the files in it; a Jupyter notebook as what its cells
// printed. Recognised by its bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "profiler/import/byte_sink.h"

namespace xlaprof {

// Where the bytes of an archive come from.
struct ArchiveOrigin {
  std::string damage;     // of the compression around them
  size_t disk_bytes = 0;  // compressed; 0: they are not
  size_t in_memory_bytes = kInMemoryBytes;
};

class Archive {
 public:
  struct Member {
    std::string name;         // relative, with /; without "..", control characters and what points
                              // out of the archive; distinct
    std::string_view bytes;   // as long as the archive; of what nobody wants, the beginning
    int64_t size_bytes = 0;   // of the whole member
    int64_t modified_ns = 0;  // Unix time
    std::string damage;       // why the bytes are not all there; "" if they are
  };

  // Whether a member that begins like this is worth reading; it sees the first 64 KiB.
  using Wanted = std::function<bool(std::string_view head)>;

  // Whether the file begins like an archive; false for what cannot be read.
  static bool Is(const std::filesystem::path& path);
  // Reads the members that are regular files and wanted. Their bytes lie in memory, or in an
  // unnamed file when they are over `in_memory_bytes` together. Errors: unreadable, or no member
  // that could be read.
  static absl::StatusOr<std::shared_ptr<const Archive>> Open(
      const std::filesystem::path& path, const Wanted& wanted,
      size_t in_memory_bytes = kInMemoryBytes);
  // The same for bytes that lie somewhere already; `name` is for messages.
  static absl::StatusOr<std::shared_ptr<const Archive>> OfBytes(const std::string& name,
                                                                std::string_view bytes,
                                                                const Wanted& wanted,
                                                                ArchiveOrigin origin = {});
  ~Archive();

  std::span<const Member> members() const;
  // Its bytes will hardly be read again: where they lie in a file, their memory is given back.
  void Forget(size_t member) const;
  // Why not everything could be read, one sentence; "" if all is well.
  const std::string& damage() const;
  int64_t skipped() const;  // links, devices and encrypted members
  size_t in_memory_bytes() const;  // that its members hold

 private:
  struct Impl;
  explicit Archive(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// `name` as a harmless relative path: no "." and "..", no leading slash, no control characters,
// backslashes as slashes; "unnamed" when nothing is left.
std::string HarmlessName(std::string_view name);

}  // namespace xlaprof
