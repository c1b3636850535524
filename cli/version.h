// Declares what `xlaprof --version` prints.
#pragma once

#include <string>

namespace xlaprof {

// Returns the version, the commit that the program was built from, the schemas of stores and the
// formats that it reads, one per line.
std::string VersionText();

}  // namespace xlaprof
