// What the events of an XSpace are, told from their names.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/category.h"

namespace xlaprof {

// What an event means for the fact tables.
enum class XRole : uint8_t {
  kNone,
  kStepMark,       // torch_xla's sync() or mark_step()
  kSync,           // torch_xla evaluates tensors: a step mark's, or a read's
  kSchedule,       // ... and puts an execution into the queue of the device's worker
  kExecute,        // the worker hands the execution to the client
  kDispatch,       // the client starts it: what JAX's calls end in
  kEnqueue,        // TPU: the host gives a program with a run_id to the device
  kGraphCompile,   // torch_xla compiles a graph; has its hash
  kClientCompile,  // torch_xla's client compiles
  kJaxCompile,     // JAX compiles a jitted function
  kXlaCompile,     // the XLA client compiles, whoever asked
  kModule,         // inside a compilation: names the HLO module
  kCall,           // JAX: a call of a jitted function
  kToDevice,       // copies, as torch_xla's client or TPU's driver see them
  kFromDevice,
  kDeviceToDevice,
  kPut,  // copies as JAX's Python side sees them
  kFetch,
  kScope,  // the user's annotation (decided by the reader, see xspace_plane.h)
  kStep,   // the user's step annotation
};

struct XName {
  Category category = Category::kHost;
  XRole role = XRole::kNone;
  bool known =
      false;  // in the table, or plainly not the user's: holds "::", starts with '$', and the like
};
// Of an event on a host thread.
XName ClassifyHostName(std::string_view name);

// Whether user code can run inside this event: what lies inside the others is no annotation of the
// user.
bool HoldsUserCode(const XName& name);

// True for HLO passes and compiler stages that every compilation runs. Outside any compile event
// they show that one was open when the capture began or ended (an event is recorded when it ends).
bool IsCompilerStage(std::string_view name);

// Of a line of a device plane, and its order of display.
struct XLineKind {
  Category category = Category::kHost;
  int64_t sort = 0;
};
XLineKind ClassifyDeviceLine(std::string_view name);

// "copy-done.2" of "%copy-done.2 = f32[5] copy-done(...)"; empty when `name` is no HLO instruction
// text.
std::string_view ShortHloName(std::string_view name);

// "f" of "PjitFunction(f)"; "" else.
std::string_view JittedFunction(std::string_view name);

}  // namespace xlaprof
