// A program in a dump of XLA or JAX, as the compilation that it was made for.
#pragma once

#include <string>

#include "profiler/import/importer.h"

namespace xlaprof {

struct DumpedProgram {
  int64_t graph_id = 0;
  std::string module;      // jit_f, SyncTensorsGraph.5
  Store::Frame call_site;  // no file if not known
};

// Adds a compile to the context's process; dumps show no times.
absl::Status AddCompile(const DumpedProgram& program, ImportContext& context);

}  // namespace xlaprof
