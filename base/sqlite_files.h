// Suffixes of the files that SQLite keeps beside a database while it writes it, and leaves there
// when its process is killed.
#pragma once

namespace xlaprof {

inline constexpr const char* kSqliteSuffixes[] = {"-wal", "-shm", "-journal"};

}  // namespace xlaprof
