// Writes the runtime's own diagnostics, in torch_xla's words, if environment variables ask for
// them: PT_XLA_DEBUG and its relatives, XLA_SAVE_TENSORS_FILE, XLA_SAVE_HLO_FILE,
// XLA_DUMP_HLO_GRAPH, XLA_FNTRACKER_FILE, TF_CPP_VMODULE.
#pragma once

#include "core/exec/listener.h"

namespace xlaprof::lazy::debug {

// Returns the listener that writes them. It is only told if Environment::diagnostics.
RuntimeListener& DebugListener();

}  // namespace xlaprof::lazy::debug
