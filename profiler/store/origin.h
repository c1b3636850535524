// The mark of origin in what xlaprof writes: a store that it imported, an export, a report. By it
// an import that finds such a file beside what it was made from, or beside another file that was
// made from the same, reads one of them, so that no event counts twice.
//
// The mark is a text, and stands near the beginning of a file or at its end, where readers of the
// format ignore it: `[[xlaprof-origin 1; WRITER; whole or part; FROM-TO or -; IDENTITY IDENTITY
// ...]]`. It names no path and no file, so it stays true if files are moved, renamed or packed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

struct Origin {
  std::string writer;    // "xlaprof 0.30.0"
  bool is_whole = true;  // false: a part of the run (--steps, --from, --to, --process)
  // The Unix times that --from and --to gave; empty: not limited.
  OptInt from_ns, to_ns;
  // Identities of the files and recordings that its content came from. A report or an export says
  // at most kMostSources of them.
  std::vector<std::string> sources;

  // Returns whether the content of both is from a common source, and from a common time.
  bool Overlaps(const Origin& other) const;
};
inline constexpr size_t kMostSources = 256;

// Returns the mark, in characters that need no escape in JSON, HTML, SQL and Markdown.
std::string TextOf(const Origin& origin);
// Returns the origin whose mark begins in the first KiB of `bytes` or ends in the last KiB.
std::optional<Origin> FindOrigin(std::string_view bytes);

// Returns the identity of a file's content, after decompression: its size, and a hash of pieces of
// it. Files of more than 256 KiB are not hashed whole.
std::string ContentIdentity(std::string_view bytes);
// Returns the size in such an identity, or nothing if it is one of a recording.
std::optional<uint64_t> SizeIn(std::string_view identity);

// Returns the origin of what is exported from the chosen part of a store. If the store was not
// imported, its sources are its recordings, or else its own file.
absl::StatusOr<Origin> OriginOf(const Store& store);

// Writes the origin of a store that was imported. OriginOf, and the exporter `sqlite`, read it.
absl::Status SetOrigin(Origin origin, Store& store);

// What a file of SQLite says of its origin.
struct StoreOrigin {
  std::optional<Origin> made_from;      // it was imported or exported
  std::vector<std::string> identities;  // of itself: recordings that were recorded to it
  bool is_store = false;                // it is a store; false: an export of one (--format sqlite)
};
// Reads it without opening the file as a store, which may have to be copied. Runs no SQL of the
// file. Returns an empty value for files that say nothing, or cannot be read.
StoreOrigin OriginOfStoreFile(const std::filesystem::path& path);

}  // namespace xlaprof
