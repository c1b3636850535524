#include "profiler/store/ordered_events.h"

#include <algorithm>
#include <utility>

#include "profiler/store/chunk.h"

namespace xlaprof {
namespace {

struct ChunkRow {
  int64_t id, first_event_id, count, min_ts_ns;
};

// A decoded chunk, and how much of it has been returned.
struct Decoded {
  ChunkRow row;
  EventColumns columns;
  ChunkArguments arguments;
  size_t next = 0, end = 0;  // events that are still to be examined

  Event Head() const { return {.ts_ns = columns.ts_ns[next], .dur_ns = columns.dur_ns[next]}; }
};

// The values of one key, for events or for names, as the chunk stores them.
struct KeyColumn {
  StringId key;
  ArgType type;
  ArgColumn column;
};

// Turns columns (one per key) into rows (one per event or name).
void Transpose(std::span<const KeyColumn> keys, size_t rows, std::vector<uint32_t>* first,
               std::vector<Argument>* out) {
  first->clear();
  if (keys.empty()) return;
  first->assign(rows + 2, 0);
  for (const KeyColumn& key : keys) {
    for (uint32_t row : key.column.index) ++(*first)[row + 2];
  }
  for (size_t i = 2; i < first->size(); ++i) (*first)[i] += (*first)[i - 1];
  out->resize(first->back());
  for (const KeyColumn& key : keys) {
    for (size_t i = 0; i < key.column.index.size(); ++i) {
      (*out)[(*first)[key.column.index[i] + 1]++] = {key.key,
                                                     ArgFromBits(key.type, key.column.bits[i])};
    }
  }
  first->pop_back();
}

}  // namespace

absl::StatusOr<absl::flat_hash_set<int64_t>> TracksWithFlows(const Store& store) {
  absl::flat_hash_set<int64_t> with_flows;
  ChunkDecoder decoder;
  XP_TRY(store.Each(
      "SELECT track_id, count, columns FROM main.event_chunk "
      "WHERE max_end_ns >= ?1 AND min_ts_ns <= ?2",
      [&](int64_t track_id, int64_t count, std::string_view columns) {
        if (!with_flows.contains(track_id) && decoder.HasFlow(columns, count))
          with_flows.insert(track_id);
      },
      store.slice().from_ns.value_or(INT64_MIN), store.slice().to_ns.value_or(INT64_MAX)));
  return with_flows;
}

struct OrderedEvents::Impl {
  explicit Impl(const Store& s) : store(&s) {}

  const Store* store;
  uint32_t columns = 0;
  bool with_arguments = false;
  int64_t from_ns = INT64_MIN, to_ns = INT64_MAX;
  std::vector<ChunkRow> rows;  // by start
  size_t next_row = 0;
  std::vector<std::unique_ptr<Decoded>> open, spare;
  Statement read_events, read_arguments;
  ChunkDecoder decoder;
  std::vector<KeyColumn> own_columns, name_columns;
  int64_t skipped_chunks = 0, skipped_arguments = 0;

  absl::Status ReadEvents(Decoded& chunk) {
    read_events.Bind(1, chunk.row.id);
    absl::StatusOr<bool> row = read_events.Step();
    absl::Status status = row.status();
    if (row.ok()) {
      status = *row ? decoder.Events(read_events.Column<std::string_view>(0), chunk.row.count,
                                     chunk.row.min_ts_ns, columns, &chunk.columns)
                    : DataLoss("chunk {} is missing", chunk.row.id);
    }
    read_events.Reset();
    return status;
  }

  absl::Status ReadArguments(Decoded& chunk) {
    own_columns.clear();
    name_columns.clear();
    read_arguments.Bind(1, chunk.row.id);
    absl::Status status;
    while (status.ok()) {
      absl::StatusOr<bool> row = read_arguments.Step();
      status = row.status();
      if (!row.ok() || !*row) break;
      status = ReadKey(chunk);
    }
    read_arguments.Reset();
    if (!status.ok()) {
      own_columns.clear();
      name_columns.clear();
    }
    ChunkArguments& out = chunk.arguments;
    Transpose(own_columns, chunk.columns.size, &out.first_own_, &out.own_);
    Transpose(name_columns, chunk.columns.names.size(), &out.first_of_name_, &out.of_name_);
    out.name_index_ = chunk.columns.name_index;
    out.name_count_ = chunk.columns.names.size();
    out.keys_clash_ = false;
    for (const KeyColumn& own : own_columns) {
      for (const KeyColumn& of_name : name_columns) out.keys_clash_ |= own.key == of_name.key;
    }
    return status;
  }

  absl::Status ReadKey(const Decoded& chunk) {
    std::string_view type_name = read_arguments.Column<std::string_view>(1);
    std::optional<ArgType> type = ArgTypeFromName(type_name);
    if (!type) return DataLoss("arguments have the unknown type '{}'", type_name);
    bool by_name = read_arguments.Column<bool>(2);
    auto& columns_of = by_name ? name_columns : own_columns;
    KeyColumn& key =
        columns_of.emplace_back(KeyColumn{read_arguments.Column<StringId>(0), *type, {}});
    return decoder.Arguments(
        read_arguments.Column<std::string_view>(4), *type, read_arguments.Column<int64_t>(3),
        by_name ? chunk.columns.names.size() : chunk.columns.size, &key.column);
  }

  // Moves to the first event from `chunk.next` on that the chosen part keeps. Returns false if none
  // is left.
  bool Settle(Decoded& chunk) {
    const EventColumns& c = chunk.columns;
    while (chunk.next < chunk.end && EventEnd(c.ts_ns[chunk.next], c.dur_ns[chunk.next]) < from_ns)
      ++chunk.next;
    return chunk.next < chunk.end;
  }

  // Decodes the chunk at next_row and opens it if it has events to return.
  absl::Status OpenNext() {
    std::unique_ptr<Decoded> chunk;
    if (!spare.empty()) {
      chunk = std::move(spare.back());
      spare.pop_back();
    } else {
      chunk = std::make_unique<Decoded>();
    }
    chunk->row = rows[next_row++];
    absl::Status status = ReadEvents(*chunk);
    if (status.ok()) {
      const auto& ts = chunk->columns.ts_ns;
      chunk->next = 0;
      chunk->end =
          size_t(std::upper_bound(ts.begin(), ts.begin() + int64_t(chunk->columns.size), to_ns) -
                 ts.begin());
      if (Settle(*chunk)) {
        if (with_arguments) {
          absl::Status arguments = ReadArguments(*chunk);
          if (absl::IsDataLoss(arguments)) {
            ++skipped_arguments;
          } else {
            XP_TRY(std::move(arguments));
          }
        }
        open.push_back(std::move(chunk));
        return absl::OkStatus();
      }
    }
    spare.push_back(std::move(chunk));
    if (!absl::IsDataLoss(status)) return status;
    ++skipped_chunks;
    return absl::OkStatus();
  }
};

OrderedEvents::OrderedEvents(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
OrderedEvents::OrderedEvents(OrderedEvents&&) noexcept = default;
OrderedEvents::~OrderedEvents() = default;
int64_t OrderedEvents::skipped_chunks() const { return impl_->skipped_chunks; }
int64_t OrderedEvents::skipped_arguments() const { return impl_->skipped_arguments; }

absl::StatusOr<OrderedEvents> OrderedEvents::Make(const Store& store, uint32_t columns,
                                                  bool arguments) {
  auto impl = std::make_unique<Impl>(store);
  impl->columns = (columns & kAllEventColumns) | kStart | kDuration | (arguments ? kNameIndex : 0);
  impl->with_arguments = arguments;
  impl->from_ns = store.slice().from_ns.value_or(INT64_MIN);
  impl->to_ns = store.slice().to_ns.value_or(INT64_MAX);
  XP_TRY(impl->read_events, store.Prepare("SELECT columns FROM main.event_chunk WHERE id = ?1"));
  if (arguments) {
    XP_TRY(impl->read_arguments,
           store.Prepare("SELECT key_id, type, by_name, count, columns FROM main.arg_chunk WHERE "
                         "event_chunk_id = ?1 ORDER BY key_id, by_name, type"));
  }
  return OrderedEvents(std::move(impl));
}

absl::Status OrderedEvents::Open(int64_t track_id) {
  Impl& impl = *impl_;
  std::move(impl.open.begin(), impl.open.end(), std::back_inserter(impl.spare));
  impl.open.clear();
  impl.next_row = 0;
  XP_TRY(impl.rows,
         impl.store->Collect(
             "SELECT id, first_event_id, count, min_ts_ns FROM main.event_chunk WHERE track_id = "
             "?1 AND max_end_ns >= ?2 AND min_ts_ns <= ?3 ORDER BY min_ts_ns, id",
             [](int64_t id, int64_t first, int64_t count, int64_t min_ts) {
               return ChunkRow{id, first, count, min_ts};
             },
             track_id, impl.from_ns, impl.to_ns));
  return absl::OkStatus();
}

absl::StatusOr<bool> OrderedEvents::Next(EventBatch* batch, const ChunkArguments** arguments) {
  Impl& impl = *impl_;
  for (size_t i = 0; i < impl.open.size();) {
    if (impl.Settle(*impl.open[i])) {
      ++i;
      continue;
    }
    impl.spare.push_back(std::move(impl.open[i]));
    impl.open.erase(impl.open.begin() + ptrdiff_t(i));
  }
  // Finds the chunk that has the first event. All chunks that might hold an earlier event must be
  // open before that is known.
  size_t first = 0;
  while (true) {
    for (size_t i = 0; i < impl.open.size(); ++i) {
      if (EventBefore(impl.open[i]->Head(), impl.open[first]->Head())) first = i;
    }
    bool more = impl.next_row < impl.rows.size();
    if (!more || (!impl.open.empty() &&
                  impl.rows[impl.next_row].min_ts_ns > impl.open[first]->Head().ts_ns)) {
      break;
    }
    XP_TRY(impl.OpenNext());
  }
  if (impl.open.empty()) return false;
  Decoded& chunk = *impl.open[first];
  const EventColumns& columns = chunk.columns;

  size_t from = chunk.next, to = from + 1;
  const Event* limit = nullptr;
  Event other;
  for (size_t i = 0; i < impl.open.size(); ++i) {
    if (i == first) continue;
    Event head = impl.open[i]->Head();
    if (limit == nullptr || EventBefore(head, other)) other = head, limit = &other;
  }
  const int64_t closed_ts_ns =
      impl.next_row < impl.rows.size() ? impl.rows[impl.next_row].min_ts_ns : INT64_MAX;
  const bool unlimited =
      limit == nullptr && columns.ts_ns[chunk.end - 1] < closed_ts_ns && impl.from_ns == INT64_MIN;
  if (unlimited) to = chunk.end;
  for (; to < chunk.end; ++to) {
    int64_t ts = columns.ts_ns[to], dur = columns.dur_ns[to];
    if (ts >= closed_ts_ns || EventEnd(ts, dur) < impl.from_ns) break;
    if (limit != nullptr && EventBefore(*limit, Event{.ts_ns = ts, .dur_ns = dur})) break;
  }
  chunk.next = to;

  auto part = [&](const auto& column, uint32_t bit) {
    auto all = std::span(column);
    return impl.columns & bit ? all.subspan(from, to - from) : all.first(0);
  };
  *batch = {};
  batch->chunk_id = chunk.row.id;
  batch->first_event_id = int64_t(uint64_t(chunk.row.first_event_id) + from);
  batch->first_index = int64_t(from);
  batch->size = to - from;
  batch->ts_ns = part(columns.ts_ns, kStart);
  batch->dur_ns = part(columns.dur_ns, kDuration);
  batch->name = part(columns.name, kName);
  batch->category = part(columns.category, kCategory);
  batch->depth = part(columns.depth, kDepth);
  batch->flow_in = part(columns.flow_in, kFlowIn);
  batch->flow_out = part(columns.flow_out, kFlowOut);
  *arguments = impl.with_arguments ? &chunk.arguments : nullptr;
  return true;
}

}  // namespace xlaprof
