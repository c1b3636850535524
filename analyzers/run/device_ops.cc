#include "analyzers/run/device_ops.h"

#include <variant>

#include "core/base/category.h"
#include "profiler/store/events.h"

namespace xlaprof {
namespace {

// Memory space 5 in XLA's layouts is the host's memory.
constexpr std::string_view kHostMemory = "S(5)";

}  // namespace

std::string_view OpName(std::string_view text) {
  if (text.starts_with('%')) text.remove_prefix(1);
  return text.substr(0, text.find_first_of(" =("));
}

absl::StatusOr<DeviceOps> DeviceOps::Of(const Run& run) {
  const Store& store = run.store();
  DeviceOps ops;
  const StringId op = store.Find(TextOf(Category::kOp)),
                 collective = store.Find(TextOf(Category::kCollective));
  XP_TRY(const std::vector<TrackRow> tracks,
         run.Rows<TrackRow>("WHERE kind IN ('host_thread', 'device', 'device_stream')"));
  EventScanner::Options options{.columns = kStart | kDuration | kName | kCategory};
  std::map<int64_t, DeviceKey> device_of;
  for (const TrackRow& track : tracks) {
    device_of[track.id] = {track.process_id.value_or(0), track.device.value_or("CPU:0")};
    options.track_ids.push_back(track.id);
  }
  if (device_of.empty() || (op == 0 && collective == 0)) return ops;
  for (StringId id : {op, collective}) {
    if (id != 0) options.categories.push_back(id);
  }
  XP_TRY(EventScanner scanner, EventScanner::Make(store, options));
  EventBatch batch;
  while (true) {
    XP_TRY(bool more, scanner.Next(&batch));
    if (!more) return ops;
    auto& of_device = ops.by_device[device_of[batch.track_id]];
    for (size_t i = 0; i < batch.size; ++i) {
      if (batch.category[i] == 0 || (batch.category[i] != op && batch.category[i] != collective))
        continue;
      if (batch.dur_ns[i] < 0) continue;
      auto [at, is_first_here] = of_device.try_emplace(batch.name[i]);
      if (is_first_here)
        ops.names.try_emplace(batch.name[i], Name{std::string(OpName(store.Text(batch.name[i]))),
                                                  batch.category[i] == collective});
      DeviceOp& one = at->second;
      ++one.count;
      one.ns += batch.dur_ns[i];
      if (batch.dur_ns[i] > one.longest_ns) {
        one.longest_ns = batch.dur_ns[i], one.ts_ns = batch.ts_ns[i];
        one.chunk_id = batch.chunk_id, one.index = batch.first_index + int64_t(i);
        one.event_id = batch.first_event_id + int64_t(i);
      }
    }
  }
}

absl::StatusOr<DeviceOpDetails> DetailsOf(const Run& run, StringId name, const DeviceOp& op) {
  const Store& store = run.store();
  DeviceOpDetails details;
  std::string_view text = store.Text(name);
  details.host_memory = text.find(kHostMemory) != text.npos;
  XP_TRY(std::vector<Argument> arguments, ReadArguments(store, op.chunk_id, op.index));
  for (const Argument& argument : arguments) {
    if (auto* value = std::get_if<Text>(&argument.value)) {
      details.host_memory |= store.Text(value->id).find(kHostMemory) != std::string_view::npos;
    } else if (store.Text(argument.key) == "bytes_accessed") {
      if (auto* u = std::get_if<uint64_t>(&argument.value)) details.bytes = int64_t(*u);
      if (auto* i = std::get_if<int64_t>(&argument.value)) details.bytes = *i;
    }
  }
  // Reads the op in the program's text, and its operands, which are the ops that it waits for.
  XP_TRY(store.Each(
      "SELECT n.shape, coalesce(n.location, ''), coalesce(group_concat(o.shape, ' '), '') FROM "
      "graph_node n LEFT JOIN graph_node o ON o.graph_id = n.graph_id AND o.op LIKE '%-start' AND "
      "(',' || n.operands || ',') LIKE ('%,' || o.idx || ',%') WHERE n.name = ?1 GROUP BY "
      "n.graph_id, n.idx",
      [&](std::string shape, std::string location, std::string operands) {
        details.host_memory |= (shape + operands).find(kHostMemory) != std::string::npos;
        if (!location.empty() && !details.location) details.location = location;
      },
      OpName(text)));
  return details;
}

}  // namespace xlaprof
