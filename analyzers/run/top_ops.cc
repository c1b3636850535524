#include "analyzers/run/top_ops.h"

#include <algorithm>
#include <map>
#include <variant>

#include "analyzers/policy.h"
#include "analyzers/run/device_time.h"
#include "analyzers/run/host_ops.h"
#include "base/numbers.h"
#include "profiler/store/events.h"
#include "profiler/vocabulary/ops.h"

namespace xlaprof {
namespace {

constexpr size_t kDetailedDevices = 8;  // details of more devices would only repeat these

// Returns the name of a C++ function without its result and its parameters.
std::string_view KernelName(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  if (!name.ends_with(')')) return name;
  int depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    depth += name[i] == ')' ? 1 : name[i] == '(' ? -1 : 0;
    // A space comes before what is no list of parameters, as in "Memcpy DtoH (Device -> Pinned)".
    if (depth == 0) return i == 0 || name[i - 1] == ' ' ? name : name.substr(0, i);
  }
  return name;
}

// Returns the name without what differs between equal ops of one program: the numbers of HLO
// instructions, and the parameters of kernels.
std::string SharedName(std::string_view name) {
  const bool is_hlo = name.starts_with('%') || name.find(" = ") != name.npos;
  name = is_hlo ? OpName(name) : KernelName(name);
  while (true) {
    const size_t dot = name.rfind('.');
    if (dot == name.npos || dot == 0) break;
    const std::string_view tail = name.substr(dot + 1);
    const bool is_number = !tail.empty() && std::ranges::all_of(tail, IsDigit);
    // ROCm's names of kernels end with .kd.
    if (!is_number && tail != "clone" && tail != "remat" && tail != "kd") break;
    name = name.substr(0, dot);
  }
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  std::string shared(name);
  for (size_t at = 0; (at = shared.find(kAnonymous, at)) != std::string::npos;)
    shared.erase(at, kAnonymous.size());
  return shared;
}

struct Group {
  TopOp op;
  const DeviceOp* longest = nullptr;  // the member with most time
  StringId name = 0;                  // its name
  bool is_collective = false;
};

// Returns the groups of one device's ops, the longest first.
std::vector<Group> GroupsOf(const Store& store, const DeviceOps& all,
                            const absl::flat_hash_map<StringId, DeviceOp>& ops) {
  std::map<std::string, Group> by_name;
  for (const auto& [name, op] : ops) {
    std::string shared = SharedName(store.Text(name));
    Group& group = by_name[shared];
    group.op.name = std::move(shared);
    group.op.count += op.count;
    group.op.self_ns += op.self_ns;
    group.is_collective |= all.names.at(name).is_collective;
    const auto order = [](const DeviceOp& a) { return std::pair(a.self_ns, -a.event_id); };
    if (group.longest == nullptr || order(op) > order(*group.longest))
      group.longest = &op, group.name = name;
  }
  std::vector<Group> groups;
  for (auto& [name, group] : by_name) groups.push_back(std::move(group));
  std::ranges::stable_sort(groups, std::greater<>(),
                           [](const Group& group) { return group.op.self_ns; });
  return groups;
}

// Sets the category, line and scope of a group from the arguments of its longest event, or else
// from the program's text.
absl::Status SetDetails(const Run& run, Group& group) {
  const Store& store = run.store();
  TopOp& op = group.op;
  if (group.is_collective) op.category = "communication";
  if (KindOfKernel(op.name) == OpKind::kCopy) op.category = "copy";
  std::string_view instruction = OpName(store.Text(group.name));
  XP_TRY(const std::vector<Argument> arguments,
         ReadArguments(store, group.longest->chunk_id, group.longest->index));
  for (const Argument& argument : arguments) {
    const auto* value = std::get_if<Text>(&argument.value);
    if (value == nullptr) continue;
    const std::string_view key = store.Text(argument.key), text = store.Text(value->id);
    if (key == "hlo_category") op.category = std::string(text);
    if (key == "source") op.location = std::string(text);
    if (key == "hlo_op") instruction = text;
    if ((key == "tf_op" || key == "name") && text.find('/') != text.npos)
      op.scope = std::string(text.substr(0, text.find(':')));
  }
  op.instruction = instruction;
  if (!op.location.empty()) return absl::OkStatus();
  XP_TRY(const OptText location,
         store.One<std::string>("SELECT location FROM graph_node WHERE name = ?1 AND location IS "
                                "NOT NULL ORDER BY graph_id, idx LIMIT 1",
                                instruction));
  op.location = location.value_or("");
  return absl::OkStatus();
}

// Adds the longest groups to `top`. `busy_ns` is the time with which they are compared.
absl::Status AddGroups(const Run& run, std::vector<Group> groups, int64_t busy_ns,
                       bool with_details, DeviceTop& top) {
  int64_t work_ns = 0;
  for (const Group& group : groups) work_ns += group.op.self_ns;
  const double all_ns = double(std::max(work_ns, busy_ns));
  top.unnamed_share = 1 - double(work_ns) / all_ns;
  for (Group& group : groups) {
    group.op.share = double(group.op.self_ns) / all_ns;
    if (top.ops.size() == kTopOps || group.op.share < policy::kTopOpShare) {
      ++top.other_names, top.other_share += group.op.share;
      continue;
    }
    if (with_details) XP_TRY(SetDetails(run, group));
    top.ops.push_back(std::move(group.op));
  }
  return absl::OkStatus();
}

absl::StatusOr<DeviceTop> TopOf(const Run& run, const DeviceTime& time, const DeviceOps& all,
                                bool with_details) {
  DeviceTop top{.key = {time.process_id, time.device},
                .label = time.label,
                .busy_share = double(time.busy_ns) / double(time.span().length_ns()),
                .span_ns = time.span().length_ns()};
  XP_TRY(AddGroups(run, GroupsOf(run.store(), all, all.by_device.at(top.key)), time.busy_ns,
                   with_details, top));
  return top;
}

// Adds the ops of the host, if no device was recorded and the host is busy with them.
absl::Status AddHost(const Run& run, TopOps& out) {
  XP_TRY(const HostOps* host, run.Get<HostOps>());
  const int64_t span_ns = host->span.length_ns();
  if (span_ns <= 0 || double(host->work_ns) < policy::kBusyDeviceShare * double(span_ns))
    return absl::OkStatus();
  DeviceOps names;
  for (const auto& [name, op] : host->ops)
    names.names[name] = {.op = std::string(run.store().Text(name))};
  DeviceTop top{.key = {host->process_id, "host"},
                .label = "the host",
                .busy_share = double(host->work_ns) / double(span_ns),
                .span_ns = span_ns};
  XP_TRY(AddGroups(run, GroupsOf(run.store(), names, host->ops), host->work_ns,
                   /*with_details=*/true, top));
  if (!top.ops.empty()) out.devices.push_back(std::move(top));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TopOps> TopOps::Of(const Run& run) {
  TopOps out;
  XP_TRY(const DeviceTimes* times, run.Get<DeviceTimes>());
  std::vector<const DeviceTime*> busy;
  for (const DeviceTime& time : times->devices) {
    const int64_t span_ns = time.span().length_ns();
    if (span_ns > 0 && double(time.busy_ns) >= policy::kBusyDeviceShare * double(span_ns))
      busy.push_back(&time);
  }
  if (times->devices.empty()) {
    XP_TRY(AddHost(run, out));
  }
  if (busy.empty()) return out;
  std::ranges::stable_sort(busy, std::greater<>(), &DeviceTime::busy_ns);
  XP_TRY(const DeviceOps* ops, run.Get<DeviceOps>());
  for (const DeviceTime* time : busy) {
    if (!ops->by_device.contains({time->process_id, time->device})) continue;
    XP_TRY(DeviceTop top, TopOf(run, *time, *ops, out.devices.size() < kDetailedDevices));
    if (!top.ops.empty()) out.devices.push_back(std::move(top));
  }
  return out;
}

}  // namespace xlaprof
