// Which importer a file is for.
#pragma once

#include <string>
#include <string_view>

#include "profiler/import/importer.h"

namespace xlaprof {

// By its bytes, never its name: the importer that is surest of the first 64 KiB, else of the last.
// Null when none is sure enough.
const Importer* Recognise(std::string_view bytes);

// Null when there is none of that name.
const Importer* ImporterNamed(std::string_view name);

// "xspace, debug_log, ..."
std::string ImporterNames();

}  // namespace xlaprof
