// Classifies the events of an XSpace by their names.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/category.h"

namespace xlaprof {

// The meaning of an event for the fact tables.
enum class XRole : uint8_t {
  kNone,
  kStepMark,       // torch_xla's sync() or mark_step()
  kSync,           // torch_xla evaluates tensors: a step mark's, or a read's
  kSchedule,       // ... and puts an execution into the queue of the device's worker
  kExecute,        // the worker hands the execution to the client
  kDispatch,       // the client starts it; JAX's calls end in this
  kEnqueue,        // TPU: the host gives a program with a run_id to the device
  kGraphCompile,   // torch_xla compiles a graph; has its hash
  kClientCompile,  // torch_xla's client compiles
  kJaxCompile,     // JAX compiles a jitted function
  kXlaCompile,     // the XLA client compiles, for whoever asked
  kTask,           // TorchTPU runs a graph
  kModule,         // inside a compilation: names the HLO module
  kCall,           // JAX: a call of a jitted function
  kToDevice,       // copies, as torch_xla's client or TPU's driver see them
  kFromDevice,
  kDeviceToDevice,
  kHostBuffer,  // inside a copy to a device: names the shape of what is copied
  kPut,         // copies as JAX's Python side sees them
  kFetch,
  kScope,  // the user's annotation (decided by the reader, see xspace_plane.h)
  kStep,   // the user's step annotation
};

struct XName {
  Category category = Category::kHost;
  XRole role = XRole::kNone;
  // True if the name is in the table, or plainly not the user's: it holds "::", starts with '$',
  // and the like.
  bool known = false;
};
// Classifies an event on a host thread.
XName ClassifyHostName(std::string_view name);

// Returns the module that an event of PJRT's C API compiles, such as tt_jit_add for
// PjRtCApiClient::CompileAndLoad(tt_jit_add); "" for other events.
std::string_view ModuleInCompile(std::string_view name);

// Returns the shape of the array that an event of PJRT's C API copies to a device, such as f32[64,32]
// for PjRtCApiCompiler::BufferFromHostBuffer(f32[64,32]); "" for other events.
std::string_view ShapeInHostBuffer(std::string_view name);

// Returns whether user code can run inside this event. An event inside one of the others is not an
// annotation of the user.
bool HoldsUserCode(const XName& name);

// The category of a line of a device plane, and its order of display.
struct XLineKind {
  Category category = Category::kHost;
  int64_t sort = 0;
};
XLineKind ClassifyDeviceLine(std::string_view name);

// Returns "copy-done.2" for "%copy-done.2 = f32[5] copy-done(...)", or "" if `name` is not the text
// of an HLO instruction.
std::string_view ShortHloName(std::string_view name);

}  // namespace xlaprof
