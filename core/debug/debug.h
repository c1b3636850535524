// Writes the runtime's own diagnostics, in torch_xla's words, if environment variables ask for
// them: PT_XLA_DEBUG and its relatives, XLA_SAVE_TENSORS_FILE, XLA_SAVE_HLO_FILE,
// XLA_DUMP_HLO_GRAPH, XLA_FNTRACKER_FILE, TF_CPP_VMODULE. The runtime calls these functions where
// things happen, and only if Asked:
//
//   if (debug::Asked()) debug::OnStep();
#pragma once

#include "core/compile/graph.h"
#include "core/environment.h"
#include "core/exec/compile_cache.h"
#include "core/exec/cut.h"
#include "core/observe/observer.h"

namespace xlaprof::lazy::debug {

inline bool Asked() { return environment().diagnostics; }

// Log how many tensors are about to be computed. OnLiveTensors is for a step mark, which then calls
// OnTensors for those that are not computed yet. OnTensors alone is for an unlazy, OnRead for a
// read.
void OnLiveTensors(size_t count);
void OnTensors(size_t count);
void OnRead(size_t count);
// Report that a graph was cut on this device, and that its program is ready to run.
void OnCut(const TracedGraph& graph, const std::string& device, const Cut& cut);
void OnProgram(const TracedGraph& graph, const std::string& device);

// Report the beginning and the end of a compilation.
void OnCompile(const Program& program, const std::string& device, const Cut& cut);
void OnCompiled(const TracedGraph& graph, const std::string& device,
                const Executable::Sizes& sizes);
// Returns the error, with the program's text in it if that was asked for.
absl::Status OnCompileError(const absl::Status& error, const Program& program);

// Reports an execution before it is enqueued.
void OnExecution(const CompiledGraph& graph, const Cut& cut);

// Report the beginning and the end of an execution, on the device's thread.
void OnRun(const CompiledGraph& graph, const std::string& device);
void OnRan(const CompiledGraph& graph, const std::string& device);

// Reports a step mark, after everything else of that mark.
void OnStep();

void OnFallback(std::string_view op, const observe::Stack& stack);

}  // namespace xlaprof::lazy::debug
