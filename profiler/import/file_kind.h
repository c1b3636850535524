// Says what a file is, and what its bytes look like.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace xlaprof {

// Says which files can be read as captures, without opening them.
enum class FileKind : uint8_t {
  kRegular,  // its size is known, and reading it changes nothing
  kKernel,   // in /proc, /sys or their like, where sizes are not known and reading may have no end
  kDevice,
  kPipe,
  kSocket,
  kDirectory,
  kNone,  // there is no such file, or it may not be looked at
  kOther,
};

// Returns the kind of the file that `path` leads to, through any links.
FileKind KindOf(const std::filesystem::path& path);

// Returns the kind in words, such as "a pipe".
std::string_view TextOf(FileKind kind);

// Says what bytes look like to a person if no importer recognises them.
enum class Look : uint8_t { kEmpty, kText, kJson, kSqlite, kPng, kZip, kProgram, kBinary };

// Judges by the beginning of the bytes.
Look LookOf(std::string_view bytes);

// Returns the look in words, such as "a PNG image".
std::string_view TextOf(Look look);

}  // namespace xlaprof
