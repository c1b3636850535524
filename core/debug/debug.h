// The runtime's own diagnostics, in torch_xla's words, where environment variables ask for them:
// PT_XLA_DEBUG and its relatives, XLA_SAVE_TENSORS_FILE, XLA_SAVE_HLO_FILE, XLA_DUMP_HLO_GRAPH,
// XLA_FNTRACKER_FILE, TF_CPP_VMODULE.
// The runtime calls these where things happen, and only when Asked:
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

// So many tensors are about to be computed: `live` at a step mark, of which those that are not yet
// are announced again; or those of an unlazy; or those of a read.
void OnLiveTensors(size_t count);
void OnTensors(size_t count);
void OnRead(size_t count);
// A graph was cut on this device; its program is there to be executed.
void OnCut(const TracedGraph& graph, const std::string& device, const Cut& cut);
void OnProgram(const TracedGraph& graph, const std::string& device);

// Before a compilation and after it.
void OnCompile(const Program& program, const std::string& device, const Cut& cut);
void OnCompiled(const TracedGraph& graph, const std::string& device,
                const Executable::Sizes& sizes);
// The error, with what is asked to be in it.
absl::Status OnCompileError(const absl::Status& error, const Program& program);

// Before an execution is sent off.
void OnExecution(const CompiledGraph& graph, const Cut& cut);

// On the device's thread, around an execution.
void OnRun(const CompiledGraph& graph, const std::string& device);
void OnRan(const CompiledGraph& graph, const std::string& device);

// At a step mark, behind all else of it.
void OnStep();

void OnFallback(std::string_view op, const observe::Stack& stack);

}  // namespace xlaprof::lazy::debug
