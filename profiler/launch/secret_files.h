// Removes secrets from files, also from what is packed in them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/launch/secrets.h"

namespace xlaprof {

// Says what was replaced in files, and which files could not be looked into.
struct Masking {
  int64_t secrets = 0;              // how many were replaced
  std::vector<std::string> unread;  // what was not looked into, and why
  bool is_lossy = false;            // something of a damaged file was lost with its secrets
};

// Replaces the secrets in the bytes of a file:
//   - in text, and between other bytes, by as many asterisks; in UTF-16, too;
//   - in gzip, zstd, zip and tar, whatever they contain. They stay what they are, and a file in which
//     nothing is replaced keeps its bytes;
//   - in the texts of an SQLite database. In a store of xlaprof, arguments of scopes are fields.
//     `log` is the write-ahead log beside the database, which becomes a part of it.
// `name` is for messages. Returns whether `log` is now a part of the bytes.
bool RemoveFromFile(const Secrets& secrets, const std::string& name, std::string& bytes,
                    Masking& masking, std::string_view log = {});

// Returns whether these are the first bytes of an SQLite database.
bool IsDatabase(std::string_view bytes);
// Does RemoveFromFile for a database. Returns false, and leaves `bytes`, if SQLite cannot read it.
bool RemoveFromDatabase(const Secrets& secrets, const std::string& name, std::string& bytes,
                        Masking& masking, std::string_view log);

}  // namespace xlaprof
