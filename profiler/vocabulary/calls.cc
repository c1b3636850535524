#include "profiler/vocabulary/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "profiler/vocabulary/call_tables.h"

namespace xlaprof {
namespace {

constexpr std::string_view kApis[] = {"cuda", "hip", "cu", "ze"};

const Call* Find(std::span<const Call> calls, std::string_view name) {
  const auto at = std::ranges::lower_bound(calls, name, {}, &Call::name);
  return at != calls.end() && at->name == name ? &*at : nullptr;
}

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

const Call& FindCall(std::string_view name) {
  if (const std::string_view call = WithoutApi(name); !call.empty()) {
    if (const Call* known = Find(kGpuCalls, call)) return *known;
  }
  if (const Call* known = Find(kEventCalls, name)) return *known;
  for (const Call& begin : kBeginsCalls) {
    if (name.starts_with(begin.name)) return begin;
  }
  for (const Call& part : kPartCalls) {
    if (name.find(part.name) != name.npos) return part;
  }
  return kUnknownCall;
}

const Call& FindFunctionCall(std::string_view function) {
  const Call* known = Find(kFunctionCalls, function);
  return known == nullptr ? kUnknownCall : *known;
}

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
