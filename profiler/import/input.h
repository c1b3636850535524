// One input file as bytes: read or mapped whole, decompressed when it is gzip or zstd, UTF-8 when
// it is UTF-16 (by its first bytes).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace xlaprof {

class InputFile {
 public:
  // `path` "-" reads standard input. Errors: missing, unreadable, not a regular file, empty.
  //
  // Memory stays bounded. Up to 64 MiB of a file, and of what comes out of its compression, lie in
  // memory. More of a text (a log, a report, a dump, a notebook), or of what is decompressed, is
  // copied to an unnamed temporary file, which nobody else can cut. A larger profile, as its
  // importer says (Importer::maps_large_files), and a larger file that is no text, such as an
  // archive, are mapped where they lie. If such a file is cut while it is read, the process gets a
  // SIGBUS, unless its main function has called InstallMapGuards (map_guard.h): then zeros are read.
  static absl::StatusOr<InputFile> Open(const std::filesystem::path& path);
  // The same for bytes that lie somewhere already: a member of an archive, called `name` in
  // messages. They must outlive this object.
  static absl::StatusOr<InputFile> OfBytes(const std::string& name, std::string_view bytes);
  InputFile(InputFile&&) noexcept;
  InputFile& operator=(InputFile&&) noexcept;
  ~InputFile();

  // Decompressed, in UTF-8, without a byte order mark; valid as long as this object.
  std::string_view bytes() const;
  // bytes() before `done` will hardly be read again: their memory is given back, in large pieces.
  void Forget(size_t done);
  std::string_view disk() const;  // as it lies on disk
  // What went wrong while decompressing or decoding, with the byte in the file as it lies on disk;
  // "" if all is well. bytes() then holds what could be read.
  const std::string& damage() const;
  // Whether the file became shorter before all of it was read: then bytes() may lack its end or, in
  // a mapped file, have zeros in place of others. A copied file is read when it is opened, so that
  // what is cut later does not matter.
  bool HasShrunk() const;

 private:
  struct Impl;
  explicit InputFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// What unrecognised bytes look like to a person: "JSON", "PNG image", "SQLite database", "text",
// "binary".
std::string_view LooksLike(std::string_view bytes);

}  // namespace xlaprof
