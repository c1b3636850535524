// One input file as bytes. It is read or mapped whole, decompressed if it is gzip or zstd, and
// decoded to UTF-8 if it is UTF-16 (by its first bytes).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace xlaprof {

class InputFile {
 public:
  // Opens a file; `path` "-" reads standard input. Fails if the file is missing, unreadable, not a
  // regular file, one of the kernel's, or empty. A regular file is read up to the size that it has
  // when it is opened, because a log may grow as fast as it is read. This also holds for standard
  // input that is a regular file. Other standard input may have no end, so it fails after
  // kAlwaysAllowedBytes.
  //
  // Memory stays bounded. Up to 64 MiB of a file, and of its decompressed content, are kept in
  // memory. A larger file is mapped in place with `maps_large_files`, and otherwise copied to an
  // unnamed temporary file, which nobody else can truncate. So is longer decompressed content. If a
  // mapped file is truncated while it is read, the process gets a SIGBUS, unless its main function
  // has called InstallMapGuards (map_guard.h). Then zeros are read instead.
  static absl::StatusOr<InputFile> Open(const std::filesystem::path& path,
                                        bool maps_large_files = false);
  // Does the same for bytes that the caller has already, such as a member of an archive, which
  // messages call `name`. They must outlive this object.
  static absl::StatusOr<InputFile> OfBytes(const std::string& name, std::string_view bytes);
  InputFile(InputFile&&) noexcept;
  InputFile& operator=(InputFile&&) noexcept;
  ~InputFile();

  // Returns the bytes, decompressed, in UTF-8 and without a byte order mark. Valid as long as this
  // object.
  std::string_view bytes() const;
  // Releases the memory of bytes() before `done`, in large pieces, because they will hardly be read
  // again.
  void Forget(size_t done);
  std::string_view disk() const;  // as stored on disk
  // Returns what went wrong while decompressing or decoding, with the position in the file on disk;
  // "" if nothing did. If something went wrong, bytes() holds the part that could be read.
  const std::string& damage() const;
  // Returns whether the file became shorter before all of it was read. Then bytes() may lack its
  // end or, in a mapped file, have zeros in place of other bytes. A copied file is read when it is
  // opened, so it does not matter if it is cut later.
  bool HasShrunk() const;

 private:
  struct Impl;
  explicit InputFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace xlaprof
