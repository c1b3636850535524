#include "profiler/vocabulary/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "profiler/vocabulary/call_tables.h"

namespace xlaprof {
namespace {

constexpr std::string_view kApis[] = {"cuda", "hip", "cu", "ze"};

const Call& Find(std::span<const Call> calls, std::string_view name) {
  const auto at = std::ranges::lower_bound(calls, name, {}, &Call::name);
  return at != calls.end() && at->name == name ? *at : kUnknownCall;
}

const Call& FirstOf(std::span<const Call> calls, auto&& fits) {
  const auto at = std::ranges::find_if(calls, fits, &Call::name);
  return at != calls.end() ? *at : kUnknownCall;
}

bool IsKnown(const Call& call) { return call.kind != CallKind::kUnknown; }

// Returns the call without the prefix of its API and without the version at its end, or "".
std::string_view WithoutApi(std::string_view name) {
  for (const std::string_view api : kApis) {
    if (!name.starts_with(api)) continue;
    name.remove_prefix(api.size());
    return name.substr(0, name.find("_v"));
  }
  return {};
}

}  // namespace

const Call& FindGpuCall(std::string_view name) {
  const std::string_view call = WithoutApi(name);
  return call.empty() ? kUnknownCall : Find(kGpuCalls, call);
}

const Call& FindEvent(std::string_view name) { return Find(kEventCalls, name); }

const Call& FindBeginning(std::string_view name) {
  return FirstOf(kBeginsCalls, [&](std::string_view begin) { return name.starts_with(begin); });
}

const Call& FindMethod(std::string_view name) { return Find(kMethodCalls, name); }

const Call& FindPart(std::string_view name) {
  return FirstOf(kPartCalls, [&](std::string_view part) { return name.find(part) != name.npos; });
}

const Call& FindCall(std::string_view name) {
  for (const auto find : {FindGpuCall, FindEvent, FindBeginning}) {
    if (const Call& call = find(name); IsKnown(call)) return call;
  }
  return FindPart(name);
}

bool IsCompilerStage(std::string_view name) { return IsKnown(Find(kStageCalls, name)); }

const Call& FindFunctionCall(std::string_view function) { return Find(kFunctionCalls, function); }

std::vector<std::string> NamesOfCalls(CallTrait trait) {
  std::vector<std::string> names;
  for (const Call& call : kEventCalls) {
    if (call.Has(trait)) names.emplace_back(call.name);
  }
  for (const Call& call : kGpuCalls) {
    if (!call.Has(trait)) continue;
    for (const std::string_view api : kApis) {
      for (const std::string_view version : {"", "_v2", "_v3", "_v4"})
        names.push_back(fmt::format("{}{}{}", api, call.name, version));
    }
  }
  return names;
}

std::vector<std::string_view> FunctionsOfCalls(CallTrait trait) {
  std::vector<std::string_view> functions;
  for (const Call& call : kFunctionCalls) {
    if (call.Has(trait)) functions.push_back(call.name);
  }
  return functions;
}

}  // namespace xlaprof
