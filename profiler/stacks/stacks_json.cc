#include <nlohmann/json.hpp>

#include "base/escape.h"
#include "profiler/stacks/stacks.h"

namespace xlaprof::stacks {
namespace {

using Json = nlohmann::ordered_json;

Json Nullable(const auto& value) { return value ? Json(*value) : Json(nullptr); }
Json Words(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
Json LineOf(int64_t line) { return line > 0 ? Json(line) : Json(nullptr); }

Json Of(const OpenScope& scope);
Json Of(const OpenThread& thread);
Json Of(const ProcessLook& look);
Json Of(const ThreadStack& thread);
Json Of(const Frame& frame);
Json Of(const StackGroup& group);

template <class T>
Json ListOf(const std::vector<T>& rows) {
  Json list = Json::array();
  for (const T& row : rows) list.push_back(Of(row));
  return list;
}

Json Of(const OpenScope& scope) {
  return {{"name", Words(scope.name)},
          {"step", Nullable(scope.step)},
          {"open_ns", Nullable(scope.open_ns)},
          {"file", Words(scope.file)},
          {"line", LineOf(scope.line)}};
}

Json Of(const OpenThread& thread) {
  return {{"thread", Words(thread.name)},
          {"tid", Nullable(thread.tid)},
          {"ended", thread.ended},
          {"scopes", ListOf(thread.scopes)}};
}

// open_scopes is null if the process does not record itself.
Json Of(const ProcessLook& look) {
  const ProcessInfo& process = look.process;
  return {{"pid", process.pid},
          {"parent", process.parent},
          {"rank", Nullable(process.rank)},
          {"local_rank", Nullable(process.local_rank)},
          {"state", std::string(1, process.state)},
          {"command", process.command},
          {"tool", Words(look.tool)},
          {"error", Words(look.error)},
          {"open_scopes", look.is_recorded ? ListOf(look.open) : Json(nullptr)}};
}

Json Of(const ThreadStack& thread) {
  return {{"pid", thread.pid},
          {"tid", thread.tid > 0 ? Json(thread.tid) : Json(nullptr)},
          {"name", Words(thread.name)},
          {"main", thread.is_main},
          {"active", Nullable(thread.is_active)},
          {"holds_gil", thread.holds_gil}};
}

Json Of(const Frame& frame) {
  return {{"function", Words(frame.function)},
          {"file", Words(frame.file)},
          {"line", LineOf(frame.line)}};
}

Json Of(const StackGroup& group) {
  return {{"idle", group.is_idle},
          {"threads", ListOf(group.threads)},
          {"frames", ListOf(group.frames())}};
}

}  // namespace

std::string LookJson(const Look& look) {
  const Json json = {{"processes", ListOf(look.processes)}, {"groups", ListOf(look.groups)}};
  return TerminalSafeJson(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace xlaprof::stacks
