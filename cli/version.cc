#include "cli/version.h"

#include <fmt/format.h>

#include "core/base/version.h"
#include "profiler/import/importer.h"
#include "profiler/store/store.h"

namespace xlaprof {

extern const char* const kCommit;  // cmake/commit.cmake writes it

std::string VersionText() {
  std::string formats;
  for (const Importer* importer : AllImporters())
    formats += fmt::format("{}{}", formats.empty() ? "" : ", ", importer->name);
  return fmt::format("xlaprof {}\ncommit {}\nschema {}, reads stores from schema {} on\nreads {}",
                     kVersion, kCommit, kSchemaVersion, kOldestSchemaVersion, formats);
}

}  // namespace xlaprof
