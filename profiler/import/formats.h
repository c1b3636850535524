// Finds the importer for a file.
#pragma once

#include <string>
#include <string_view>

#include "profiler/import/importer.h"

namespace xlaprof {

// Returns the importer that is surest of the first 64 KiB, or else of the last. It judges by the
// bytes, never by a name. Returns null if none is sure enough.
const Importer* Recognise(std::string_view bytes);

// Returns the importer of that name, or null if there is none.
const Importer* ImporterNamed(std::string_view name);

// Returns the names of all importers: "xspace, debug_log, ..."
std::string ImporterNames();

}  // namespace xlaprof
