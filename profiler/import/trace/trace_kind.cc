#include "profiler/import/trace/trace_kind.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "base/numbers.h"
#include "profiler/vocabulary/calls.h"
#include "profiler/vocabulary/ops.h"

namespace xlaprof {
namespace {

using C = Category;
using R = XRole;

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool ContainsAny(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return Contains(text, part); });
}

// Returns which way a copy goes. CUDA and HIP print "Memcpy HtoD (Pageable -> Device)". SYCL and
// Level Zero, which call memory that both sides reach M, print "Memcpy M2D (Memory -> Device)" and
// "zeCommandListAppendMemoryCopy(H2D)".
R CopyRole(std::string_view name) {
  if (ContainsAny(name, {"HtoD", "H2D", "M2D", "Host -> Device", "Memory -> Device"}))
    return R::kToDevice;
  if (ContainsAny(name, {"DtoH", "D2H", "D2M", "Device -> Pageable", "Device -> Pinned",
                         "Device -> Host", "Device -> Memory"}))
    return R::kFromDevice;
  // Copies inside one device (DtoD) are its ordinary work.
  return Contains(name, "PtoP") ? R::kDeviceToDevice : R::kNone;
}

// Returns the category of a call of CUDA, HIP, SYCL and Level Zero. MTIA's calls begin as in
// "runFunction - " and "enqueueCommand memcpyHtoDAsync".
C CallCategory(std::string_view name) {
  if (Contains(name, "Launch") || name.starts_with("runFunction")) return C::kExecute;
  if (ContainsAny(name, {"emcpy", "MemoryCopy"})) return C::kTransfer;
  return ContainsAny(name, {"emset", "MemoryFill", "USMFill"}) ? C::kExecute : C::kHost;
}

// Returns the kind of an annotation that PyTorch itself makes, judged by its name. torch 1.8 to 1.10
// write the category "Operator" for everything on the host, also for steps, loaders and scopes.
std::optional<TraceKind> AnnotationOfTorch(std::string_view name) {
  if (ProfilerStep(name) >= 0) return TraceKind{C::kStep, R::kStep};
  // torch.utils.data marks each next() of its loader.
  if (name.starts_with("enumerate(DataLoader)")) return TraceKind{C::kInput};
  if (name.starts_with("Optimizer.step#") || name.starts_with("Optimizer.zero_grad#") ||
      IsOneOf(name, {"DataParallel.forward", "DistributedDataParallel.forward"}))
    return TraceKind{C::kScope, R::kScope};
  return std::nullopt;
}

// Returns what an event shows of torch.compile, judged by its name. Dynamo times its parts under the
// names of their functions with a suffix, and newer versions (torch 2.15) also under the names that
// its log has.
DynamoEvent DynamoEventOf(std::string_view name) {
  using D = DynamoEvent;
  constexpr std::string_view kTimed = " (dynamo_timed)";
  if (name.starts_with("Torch-Compiled Region: ")) return D::kRegion;
  if (name == "TorchDynamo Cache Lookup") return D::kLookup;
  if (name == "CompiledFunction") return D::kForwardOp;
  if (name == "CompiledFunctionBackward") return D::kBackwardOp;
  if (name.starts_with("entire_frame_compile_data: ") ||
      name.starts_with("entire_backward_compile_data: "))
    return D::kId;
  if (name.ends_with(kTimed)) {
    name.remove_suffix(kTimed.size());
    if (name == "compile_inner" || name.ends_with(".compile_inner")) return D::kCompile;
    if (name.ends_with("backward._backward_impl")) return D::kBackwardCompile;
  }
  if (name == "entire_frame_compile") return D::kCompile;
  return name == "entire_backward_compile" ? D::kBackwardCompile : D::kNone;
}

// Returns the kind of an event in which torch.compile times itself. All its parts have the suffix.
std::optional<TraceKind> KindOfDynamo(std::string_view cat, std::string_view name) {
  if (cat == "dynamo_timed") {
    return TraceKind{.category = C::kCompile,
                     .dynamo = name == "dynamo" ? DynamoEvent::kWhole : DynamoEventOf(name)};
  }
  if (!IsOneOf(cat, {kTorchOp, "user_annotation"})) return std::nullopt;
  const DynamoEvent event = DynamoEventOf(name);
  const bool is_part = event == DynamoEvent::kCompile || event == DynamoEvent::kBackwardCompile ||
                       event == DynamoEvent::kId || name.ends_with(" (dynamo_timed)");
  if (is_part) return TraceKind{.category = C::kCompile, .dynamo = event};
  if (event == DynamoEvent::kNone) return std::nullopt;
  return TraceKind{.dynamo = event};
}

// Returns the kind of an event of XLA's client or of TorchTPU's runtime, which TorchTPU hands to
// PyTorch's profiler as operations. They have the names that an XSpace gives them.
std::optional<TraceKind> KindOfRuntime(std::string_view name) {
  const XName what = ClassifyHostName(name);
  if (!what.known || !(what.category == C::kCompile || what.category == C::kTracing ||
                       what.category == C::kExecute || what.category == C::kTransfer))
    return std::nullopt;
  // Other roles need the arguments that only an XSpace has.
  const bool is_whole = what.role == R::kXlaCompile || what.role == R::kTask;
  return TraceKind{.category = what.category, .role = is_whole ? what.role : R::kNone};
}

}  // namespace

TraceWriter WriterOf(std::string_view head, std::string_view tail) {
  if (Contains(head, "\"exporter\":\"xlaprof ")) return TraceWriter::kXlaprof;
  for (std::string_view part : {head, tail}) {
    if (Contains(part, "\"deviceProperties\"") || Contains(part, "\"distributedInfo\"") ||
        Contains(part, "\"cpu_op\"") || Contains(part, "\"cuda_runtime\"") ||
        Contains(part, "\"ProfilerStep#") || Contains(part, "\"PyTorch Profiler") ||
        ContainsAny(part, {"\"cat\": \"dynamo_timed\"", "\"cat\":\"dynamo_timed\""}))
      return TraceWriter::kKineto;
  }
  for (std::string_view part : {head, tail}) {
    if (Contains(part, "\"/host:CPU\"") || Contains(part, "\"/device:")) return TraceWriter::kXprof;
  }
  return TraceWriter::kOther;
}

int64_t ProfilerStep(std::string_view name) {
  constexpr std::string_view kPrefix = "ProfilerStep#";
  return name.starts_with(kPrefix) ? ParseCount(name.substr(kPrefix.size())).value_or(-1) : -1;
}

TraceKind KindOfKineto(std::string_view cat, std::string_view name) {
  // These are not work. They are waits, and the host's scopes, drawn once more where their kernels
  // ran (1 ns early and 2 ns too long).
  if (IsOneOf(cat, {"cuda_sync", "cuda_event", "xpu_sync", "cuda_profiler_range"}) ||
      (cat == "mtia_ccp_events" && IsOneOf(name, {"event_wait", "event_record"})))
    return {C::kAsyncOp, R::kNone, true};
  if (cat == "gpu_user_annotation") return {C::kScope, R::kNone, true};
  if (IsOneOf(cat, {"kernel", "Kernel", "mtia_ccp_events", "hpu_op"})) {
    return {IsCollectiveOp(name) ? C::kCollective : C::kOp, R::kNone, true, true};
  }
  if (IsOneOf(cat, {"gpu_memcpy", "Memcpy"})) return {C::kOp, CopyRole(name), true, true};
  if (IsOneOf(cat, {"gpu_memset", "Memset"})) return {C::kOp, R::kNone, true, true};
  if (IsOneOf(cat, {"cuda_runtime", "cuda_driver", "Runtime", "xpu_runtime", "xpu_driver",
                    "privateuse1_runtime", "privateuse1_driver", "mtia_runtime", "glow_runtime"})) {
    const C category = CallCategory(name);
    // Other makers' devices have other names for their calls, so any of these may ask for work.
    const bool has_own_names = cat.starts_with("privateuse1_");
    return {category, R::kNone, false, category != C::kHost || has_own_names};
  }
  if (cat == "python_function") return {C::kPython};
  if (const std::optional<TraceKind> dynamo = KindOfDynamo(cat, name)) return *dynamo;
  const bool user_annotation = cat == "user_annotation";
  if (user_annotation || IsOneOf(cat, {kOldTorchOp, kTorchOp, ""})) {
    if (const std::optional<TraceKind> annotation = AnnotationOfTorch(name)) return *annotation;
  }
  if (cat == kTorchOp) {
    if (const std::optional<TraceKind> runtime = KindOfRuntime(name)) return *runtime;
  }
  return user_annotation ? TraceKind{C::kScope, R::kScope} : TraceKind();
}

TraceKind KindOfXprof(std::string_view name) {
  const XName what = ClassifyHostName(name);
  return {what.category, what.role};
}

TraceKind KindOfOther(std::string_view cat) {
  for (size_t c = size_t(C::kHost); c < kCategoryCount; ++c) {
    if (TextOf(C(c)) == cat) return {C(c)};
  }
  return {};
}

bool IsCorrelationFlow(std::string_view cat) {
  return IsOneOf(cat, {"ac2g", "async_cpu_to_gpu", "async_gpu"});
}

std::string_view DeviceTypeOf(std::string_view cat) {
  return cat.starts_with("mtia_")          ? "MTIA"
         : cat.starts_with("hpu_")         ? "HPU"
         : cat.starts_with("xpu_")         ? "XPU"
         : cat.starts_with("privateuse1_") ? "PrivateUse1"
                                           : "";
}

}  // namespace xlaprof
