// Classifies the events of a trace by `cat` and `name`, depending on which program wrote it.
//
//   Kineto   PyTorch's profiler: `cat` says what an event is, and whether a device did it; also the
//            compilations that tlparse copies from torch's structured log (chromium_events.json)
//   XProf    XLA's profiler, converted (HOST.trace.json.gz): names as in an XSpace, pids are planes
//   xlaprof  our own export: `cat` is the category, pids are processes of the run and their devices
//   other    anything else: events keep their category if it is one of ours
#pragma once

#include <string_view>

#include "profiler/import/xspace/xspace_names.h"

namespace xlaprof {

enum class TraceWriter { kOther, kXlaprof, kKineto, kXprof };

// Finds out from the head and the tail of a file which program wrote it.
TraceWriter WriterOf(std::string_view head, std::string_view tail);

// What an event shows of torch.compile.
enum class DynamoEvent : uint8_t {
  kNone,
  kWhole,            // a compilation with what Dynamo does around it; tlparse's has the function
  kCompile,          // a compilation of a frame
  kBackwardCompile,  // the compilation of its backward graph, when that is first needed
  kId,               // the arguments of the compilation around it, in its name
  kLookup,           // looks for a program that fits the arguments of a call
  kRegion,           // runs a program
  kForwardOp,        // the program's forward graph, as an operation of autograd
  kBackwardOp,       // the backward graph of a forward graph with the same sequence number
};

struct TraceKind {
  Category category = Category::kHost;
  XRole role = XRole::kNone;
  // Kineto: the event's track is a device's stream, whatever else it shows.
  bool on_device = false;
  // Kineto: `correlation` joins the call that asks for device work with that work.
  bool calls_device = false;
  DynamoEvent dynamo = DynamoEvent::kNone;  // Kineto
};

// These classify an event by its decoded `cat` and `name`.
TraceKind KindOfKineto(std::string_view cat, std::string_view name);
TraceKind KindOfXprof(std::string_view name);
TraceKind KindOfOther(std::string_view cat);

// Returns true for the flows that only repeat what `correlation` says.
bool IsCorrelationFlow(std::string_view cat);

// Returns the type of device, such as "MTIA", that a category of Kineto names. Returns "" for
// categories that all devices have.
std::string_view DeviceTypeOf(std::string_view cat);

// Returns N of "ProfilerStep#N", or -1 for other names.
int64_t ProfilerStep(std::string_view name);

}  // namespace xlaprof
