// A program in a dump of XLA or JAX, and the list of its buffers.
#pragma once

#include <string>
#include <string_view>

#include "profiler/import/importer.h"
#include "profiler/store/rows.h"

namespace xlaprof {

// The sizes that a compile row holds, in bytes. XLA's list of the buffers of a program has them
// (…-buffer-assignment.txt in a --xla_dump_to folder).
struct ProgramBytes {
  int64_t input = 0, output = 0, alias = 0, temp = 0;
};

bool IsBufferAssignment(std::string_view text);
ProgramBytes ParseBufferAssignment(std::string_view text);

// A program in a dump of XLA or JAX, as the compilation that it was made for.
struct DumpedProgram {
  int64_t graph_id = 0;
  std::string module;      // jit_f, SyncTensorsGraph.5
  Store::Frame call_site;  // no file if not known
};

// Returns the number of the module that a dump's file is named after, if it has one.
OptInt ModuleNumber(const Input& input);

// Adds the graph of a program that is printed as text. If `is_cut`, its end is missing, which is
// reported.
absl::StatusOr<DumpedProgram> AddPrintedProgram(const Input& input, bool is_cut,
                                                ImportContext& context);

// Adds a compile to the context's process; dumps show no times.
absl::Status AddCompile(const DumpedProgram& program, ImportContext& context);

// Turns "SyncTensorsGraph.5" into "SyncTensorsGraph", because the number counts nodes or compilations.
std::string_view WithoutNumber(std::string_view name);

}  // namespace xlaprof
