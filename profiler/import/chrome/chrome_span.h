// Describes a Chrome trace by both ends of the file (Importer::span).
#pragma once

#include <string_view>

#include "profiler/import/importer.h"

namespace xlaprof {

TraceSpan SpanOfChrome(std::string_view bytes);

}  // namespace xlaprof
