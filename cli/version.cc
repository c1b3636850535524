#include "cli/version.h"

#include <fmt/format.h>

#include "base/version.h"
#include "profiler/import/formats.h"
#include "profiler/store/store.h"

namespace xlaprof {

extern const char* const kCommit;  // cmake/commit.cmake writes it

std::string VersionText() {
  return fmt::format("xlaprof {}\ncommit {}\nschema {}\nreads {}",
                     kVersion, kCommit, kSchemaVersion, FormatNames());
}

}  // namespace xlaprof
