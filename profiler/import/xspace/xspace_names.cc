#include "profiler/import/xspace/xspace_names.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "profiler/store/events.h"
#include "profiler/vocabulary/calls.h"

namespace xlaprof {
namespace {

using C = Category;
using R = XRole;

struct TraitOfRole {
  CallTrait trait;
  R role;
};
constexpr TraitOfRole kRoles[] = {
    {CallTrait::kStepMark, R::kStepMark},
    {CallTrait::kSync, R::kSync},
    {CallTrait::kSchedule, R::kSchedule},
    {CallTrait::kExecute, R::kExecute},
    {CallTrait::kDispatch, R::kDispatch},
    {CallTrait::kEnqueue, R::kEnqueue},
    {CallTrait::kGraphCompile, R::kGraphCompile},
    {CallTrait::kClientCompile, R::kClientCompile},
    {CallTrait::kJaxCompile, R::kJaxCompile},
    {CallTrait::kXlaCompile, R::kXlaCompile},
    {CallTrait::kTask, R::kTask},
    {CallTrait::kModule, R::kModule},
    {CallTrait::kCall, R::kCall},
    {CallTrait::kToDevice, R::kToDevice},
    {CallTrait::kFromDevice, R::kFromDevice},
    {CallTrait::kDeviceToDevice, R::kDeviceToDevice},
    {CallTrait::kPut, R::kPut},
    {CallTrait::kFetch, R::kFetch},
};

// Returns nothing for names that may also be the user's, or that only other profilers print.
std::optional<XName> Of(const Call& call) {
  XName what{.known = true};
  switch (call.kind) {
    case CallKind::kTracing:
      what.category = C::kTracing;
      break;
    case CallKind::kCompiling:
      what.category = C::kCompile;
      break;
    case CallKind::kLaunching:
      what.category = C::kExecute;
      break;
    case CallKind::kCopying:
      what.category = C::kTransfer;
      break;
    case CallKind::kLoading:
      what.category = C::kInput;
      break;
    case CallKind::kOther:
      break;
    default:
      return std::nullopt;
  }
  const auto role =
      std::ranges::find_if(kRoles, [&](const auto& of) { return call.Has(of.trait); });
  if (role != std::end(kRoles)) what.role = role->role;
  return what;
}

// Classifies the name of a method, which ends in `method`.
XName OfMethod(std::string_view name, std::string_view method) {
  const std::string_view of_class = name.substr(0, name.size() - method.size());
  const std::optional<XName> what = Of(FindMethod(method));
  // A step inside an operation ("Execute=>IssueEvent") is not the operation. Compilers nest
  // (JitCompiler::Compile inside CpuCompiler inside the client), and the client's compile is the one
  // that was asked for. Thread pools and transposes execute things too, but executions of programs are
  // those of an executable or of the TPU driver.
  const bool is_meant = what && (what->role != R::kXlaCompile || of_class.ends_with("Client")) &&
                        (what->category != C::kExecute || of_class.ends_with("Executable") ||
                         name.starts_with("tpu::System"));
  return is_meant ? *what : XName{.known = true};
}

}  // namespace

XName ClassifyHostName(std::string_view name) {
  if (name.empty()) return {C::kHost, R::kNone, true};
  if (name.front() == '$') return {C::kPython, R::kNone, true};
  for (const auto find : {FindEvent, FindBeginning}) {
    if (const auto what = Of(find(name))) return *what;
  }
  // PJRT's C API names the module: PjRtCApiClient::CompileAndLoad(tt_jit_add).
  if (!ModuleInCompile(name).empty()) return {C::kCompile, R::kXlaCompile, true};
  if (!ShapeInHostBuffer(name).empty()) return {C::kTransfer, R::kHostBuffer, true};
  if (const size_t colons = name.rfind("::"); colons != name.npos)
    return OfMethod(name, name.substr(colons));
  if (const auto what = Of(FindPart(name))) return *what;
  return {.known = IsCompilerStage(name)};
}

// Returns the text between `begin` and the bracket that ends `name`, or "" if it lacks either.
static std::string_view InBrackets(std::string_view name, std::string_view begin) {
  const size_t at = name.find(begin);
  if (at == std::string_view::npos || !name.ends_with(')')) return {};
  name.remove_prefix(at + begin.size());
  name.remove_suffix(1);
  return name;
}

std::string_view ModuleInCompile(std::string_view name) {
  return InBrackets(name, "Client::CompileAndLoad(");
}

std::string_view ShapeInHostBuffer(std::string_view name) {
  return InBrackets(name, "::BufferFromHostBuffer(");
}

bool HoldsUserCode(const XName& name) {
  if (!name.known) return true;
  return name.category == C::kPython || name.category == C::kScope || name.category == C::kStep ||
         name.category == C::kInput;
}

XLineKind ClassifyDeviceLine(std::string_view name) {
  struct Line {
    std::string_view name;
    C category;
  };
  // The lines are in order of display.
  static constexpr Line kLines[] = {
      {"Steps", C::kStep},
      {"Sparse Core Steps", C::kStep},
      {"XLA Modules", C::kModule},
      {"Sparse Core Modules", C::kModule},
      {"XLA Ops", C::kOp},
      {"Sparse Core Ops", C::kOp},
      {"Async XLA Ops", C::kAsyncOp},
      {"Host Offload Ops", C::kAsyncOp},
      {"XLA TraceMe", C::kHost},
      {"Framework Name Scope", C::kScope},
      {"Framework Ops", C::kHost},
      {"Source code", C::kHost},
      {"Source Code", C::kHost},
      {"Launch Stats", C::kHost},
      {"Overlay", C::kHost},
  };
  int64_t sort = 1;
  for (const Line& line : kLines) {
    if (name == line.name) return {line.category, sort};
    ++sort;
  }
  if (name.starts_with("Stream #")) return {C::kOp, 5};
  if (name.starts_with("XLA Ops - ")) return {C::kOp, 6};
  if (name.starts_with("XLA Modules - ")) return {C::kModule, 4};
  return {C::kHost, sort};
}

std::string_view ShortHloName(std::string_view name) {
  if (!name.starts_with('%')) return {};
  size_t equals = name.find(" = ");
  return equals == std::string_view::npos ? std::string_view() : name.substr(1, equals - 1);
}

}  // namespace xlaprof
