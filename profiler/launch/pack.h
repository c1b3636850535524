// Packs the directory of a recording into one archive that can be given away.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/status.h"
#include "profiler/launch/secrets.h"

namespace xlaprof {

struct Packed {
  int64_t files = 0;
  int64_t secrets = 0;  // secrets that were replaced
};

// Writes all regular files below `folder` to the gzipped tar `archive`, whose members begin with the
// folder's name. Secrets are replaced in the archive, also in gzipped files, and not in the folder.
// The archive appears when it is complete. `xlaprof report ARCHIVE` reads it.
absl::StatusOr<Packed> PackFolder(const std::filesystem::path& folder,
                                  const std::filesystem::path& archive, const Secrets& secrets);

}  // namespace xlaprof
