#include <algorithm>
#include <utility>

#include "profiler/store/chunk.h"
#include "profiler/store/events.h"

namespace xlaprof {
namespace {

std::string_view Blob(const Statement& statement, int index) {
  return statement.Column<std::string_view>(index);
}

}  // namespace

// The list of chunks is read once, so that the scan sees one state of the file. Each chunk's bytes
// are then read in a transaction of their own, so that a slow reader holds no snapshot while it
// works. Chunks never change.
struct EventScanner::Impl {
  struct Chunk {
    int64_t id, track_id, first_event_id, count, min_ts_ns;
    bool whole;  // is inside the range, so no event needs to be checked
  };

  explicit Impl(const Store& s) : store(&s) {}

  const Store* store;
  uint32_t columns = 0;
  int64_t from_ns = INT64_MIN, to_ns = INT64_MAX;
  std::vector<StringId> categories;
  std::vector<Chunk> chunks;
  size_t next = 0;
  Statement read;
  ChunkDecoder decoder;
  EventColumns decoded;
  // Parts of the chunk before `next` that are still to be returned.
  std::vector<std::pair<size_t, size_t>> parts;
  size_t next_part = 0;
  int64_t skipped = 0;

  absl::Status List(const std::vector<int64_t>& track_ids,
                    const std::vector<std::pair<int64_t, int64_t>>& times_ns) {
    std::string where = "1";
    if (!track_ids.empty())
      where += fmt::format(" AND track_id IN ({})", fmt::join(track_ids, ","));
    if (auto process = store->slice().process_id) {
      where += fmt::format(
          " AND track_id IN (SELECT id FROM main.track "
          "WHERE process_id = {} OR process_id IS NULL)",
          *process);
    }
    if (from_ns != INT64_MIN) where += fmt::format(" AND max_end_ns >= {}", from_ns);
    if (to_ns != INT64_MAX) where += fmt::format(" AND min_ts_ns <= {}", to_ns);
    return store->Each(fmt::format("SELECT id, track_id, first_event_id, count, min_ts_ns, "
                                   "max_end_ns FROM main.event_chunk WHERE {} "
                                   "ORDER BY track_id, min_ts_ns, id",
                                   where),
                       [&](int64_t id, int64_t track, int64_t first, int64_t count, int64_t min_ts,
                           int64_t max_end) {
                         const auto overlaps = [&](const auto& time) {
                           return time.first <= max_end && time.second >= min_ts;
                         };
                         if (!times_ns.empty() && std::ranges::none_of(times_ns, overlaps)) return;
                         chunks.push_back({id, track, first, count, min_ts,
                                           from_ns <= min_ts && max_end <= to_ns});
                       });
  }

  // Decodes the next chunk that is sound and finds the parts of it that the time range keeps.
  // Returns false if no chunk is left.
  absl::StatusOr<bool> ReadChunk() {
    while (next < chunks.size()) {
      const Chunk& chunk = chunks[next++];
      if (read.get() == nullptr) {
        XP_TRY(read, store->Prepare("SELECT columns FROM main.event_chunk WHERE id = ?1"));
      }
      read.Bind(1, chunk.id);
      absl::StatusOr<bool> row = read.Step();
      if (row.ok() && *row && !categories.empty() &&
          !decoder.HasCategory(Blob(read, 0), chunk.count, categories)) {
        read.Reset();
        continue;
      }
      absl::Status sound = row.status();
      if (row.ok()) {
        sound = *row ? decoder.Events(Blob(read, 0), chunk.count, chunk.min_ts_ns,
                                      columns | (chunk.whole ? 0 : kStart | kDuration), &decoded)
                     : DataLoss("chunk {} is missing", chunk.id);
      }
      read.Reset();
      if (absl::IsDataLoss(sound)) {
        ++skipped;
        continue;
      }
      XP_TRY(std::move(sound));
      parts.clear();
      next_part = 0;
      if (chunk.whole) {
        if (decoded.size > 0) parts.emplace_back(0, decoded.size);
      } else {
        FindParts();
      }
      if (!parts.empty()) return true;
    }
    return false;
  }

  void FindParts() {
    auto& ts = decoded.ts_ns;
    size_t end = size_t(std::upper_bound(ts.begin(), ts.begin() + int64_t(decoded.size), to_ns) -
                        ts.begin());
    size_t begin = 0;
    bool open = false;
    for (size_t i = 0; i <= end; ++i) {
      bool keep = i < end && EventEnd(ts[i], decoded.dur_ns[i]) >= from_ns;
      if (keep && !open) begin = i;
      if (!keep && open) parts.emplace_back(begin, i);
      open = keep;
    }
  }
};

EventScanner::EventScanner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EventScanner::EventScanner(EventScanner&&) noexcept = default;
EventScanner::~EventScanner() = default;
int64_t EventScanner::skipped_chunks() const { return impl_->skipped; }

absl::StatusOr<EventScanner> EventScanner::Make(const Store& store, Options options) {
  auto impl = std::make_unique<Impl>(store);
  impl->columns = options.columns & kAllEventColumns;
  impl->categories = std::move(options.categories);
  const Slice& slice = store.slice();
  impl->from_ns = std::max(options.from_ns.value_or(INT64_MIN), slice.from_ns.value_or(INT64_MIN));
  impl->to_ns = std::min(options.to_ns.value_or(INT64_MAX), slice.to_ns.value_or(INT64_MAX));
  XP_TRY(impl->List(options.track_ids, options.times_ns));
  return EventScanner(std::move(impl));
}

absl::StatusOr<bool> EventScanner::Next(EventBatch* batch) {
  if (impl_->next_part == impl_->parts.size()) {
    XP_TRY(bool more, impl_->ReadChunk());
    if (!more) return false;
  }
  auto [from, to] = impl_->parts[impl_->next_part++];
  const Impl::Chunk& chunk = impl_->chunks[impl_->next - 1];
  auto part = [&](const auto& column, uint32_t bit) {
    auto all = std::span(column);
    return impl_->columns & bit ? all.subspan(from, to - from) : all.first(0);
  };
  const EventColumns& columns = impl_->decoded;
  *batch = {};
  batch->chunk_id = chunk.id;
  batch->track_id = chunk.track_id;
  // The id may wrap around if the file is hostile.
  batch->first_event_id = int64_t(uint64_t(chunk.first_event_id) + from);
  batch->first_index = int64_t(from);
  batch->size = to - from;
  batch->ts_ns = part(columns.ts_ns, kStart);
  batch->dur_ns = part(columns.dur_ns, kDuration);
  batch->name = part(columns.name, kName);
  batch->category = part(columns.category, kCategory);
  batch->depth = part(columns.depth, kDepth);
  batch->flow_in = part(columns.flow_in, kFlowIn);
  batch->flow_out = part(columns.flow_out, kFlowOut);
  return true;
}

namespace {

// Reads the names of a chunk's events, which by_name arguments refer to.
absl::Status ReadNames(const Store& store, int64_t chunk_id, ChunkDecoder& decoder,
                       EventColumns* names) {
  XP_TRY(Statement chunk,
         store.Prepare("SELECT count, min_ts_ns, columns FROM main.event_chunk WHERE id = ?1"));
  chunk.Bind(1, chunk_id);
  XP_TRY(bool row, chunk.Step());
  if (!row) return NotFound("there is no event chunk {}", chunk_id);
  return decoder.Events(Blob(chunk, 2), chunk.Column<int64_t>(0), chunk.Column<int64_t>(1),
                        kNameIndex, names);
}

absl::StatusOr<ArgType> TypeOf(std::string_view name) {
  std::optional<ArgType> type = ArgTypeFromName(name);
  if (!type) return DataLoss("arguments have the unknown type '{}'", name);
  return *type;
}

}  // namespace

absl::StatusOr<std::vector<Argument>> ReadArguments(const Store& store, int64_t chunk_id,
                                                    int64_t index) {
  ChunkDecoder decoder;
  EventColumns names;
  XP_TRY(ReadNames(store, chunk_id, decoder, &names));
  if (index < 0 || uint64_t(index) >= names.size)
    return NotFound("chunk {} has no event {}", chunk_id, index);
  std::vector<Argument> out;
  ArgColumn column;
  XP_TRY(store.Each(
      "SELECT key_id, type, by_name, count, columns FROM main.arg_chunk WHERE event_chunk_id = ?1 "
      "ORDER BY key_id, by_name, type",
      [&](StringId key, std::string_view type_name, bool by_name, int64_t count,
          std::string_view blob) -> absl::Status {
        XP_TRY(ArgType type, TypeOf(type_name));
        XP_TRY(decoder.Arguments(blob, type, count, by_name ? names.names.size() : names.size,
                                 &column));
        uint32_t wanted = by_name ? names.name_index[size_t(index)] : uint32_t(index);
        auto [from, to] = std::equal_range(column.index.begin(), column.index.end(), wanted);
        for (; from != to; ++from) {
          out.push_back({key, ArgFromBits(type, column.bits[size_t(from - column.index.begin())])});
        }
        return absl::OkStatus();
      },
      chunk_id));
  std::stable_sort(out.begin(), out.end(), [&](const Argument& a, const Argument& b) {
    return store.Text(a.key) < store.Text(b.key);
  });
  return out;
}

absl::StatusOr<std::vector<std::optional<ArgValue>>> ReadArgumentColumn(const Store& store,
                                                                        int64_t chunk_id,
                                                                        StringId key) {
  ChunkDecoder decoder;
  EventColumns names;
  XP_TRY(ReadNames(store, chunk_id, decoder, &names));
  std::vector<std::optional<ArgValue>> out(names.size);
  ArgColumn column;
  std::vector<std::optional<ArgValue>> of_name(names.names.size());
  // An event's own value (by_name = 0) takes precedence over that of its name.
  XP_TRY(store.Each(
      "SELECT type, by_name, count, columns FROM main.arg_chunk WHERE "
      "event_chunk_id = ?1 AND key_id = ?2 ORDER BY by_name, type",
      [&](std::string_view type_name, bool by_name, int64_t count,
          std::string_view blob) -> absl::Status {
        XP_TRY(ArgType type, TypeOf(type_name));
        XP_TRY(
            decoder.Arguments(blob, type, count, by_name ? of_name.size() : out.size(), &column));
        auto& to = by_name ? of_name : out;
        for (size_t i = 0; i < column.index.size(); ++i) {
          auto& slot = to[column.index[i]];
          if (!slot) slot = ArgFromBits(type, column.bits[i]);
        }
        return absl::OkStatus();
      },
      chunk_id, key));
  for (size_t i = 0; i < out.size(); ++i) {
    if (!out[i]) out[i] = of_name[names.name_index[i]];
  }
  return out;
}

absl::Status EachCounterBatch(const Store& store,
                              const std::function<absl::Status(const CounterBatch&)>& fn) {
  return EachCounterBatch(store, {}, fn);
}

absl::Status EachCounterBatch(const Store& store, OptInt track_id,
                              const std::function<absl::Status(const CounterBatch&)>& fn) {
  std::string where = track_id ? fmt::format("track_id = {}", *track_id) : "1";
  const Slice& slice = store.slice();
  if (slice.process_id) {
    where += fmt::format(
        " AND track_id IN (SELECT id FROM main.track WHERE process_id = {} OR process_id IS NULL)",
        *slice.process_id);
  }
  if (slice.from_ns) where += fmt::format(" AND max_ts_ns >= {}", *slice.from_ns);
  if (slice.to_ns) where += fmt::format(" AND min_ts_ns <= {}", *slice.to_ns);
  XP_TRY(
      auto ids,
      store.Collect(
          fmt::format("SELECT id FROM main.counter_chunk WHERE {} ORDER BY track_id, min_ts_ns, id",
                      where),
          [](int64_t id) { return id; }));
  XP_TRY(Statement read,
         store.Prepare(
             "SELECT track_id, count, min_ts_ns, columns FROM main.counter_chunk WHERE id = ?1"));
  ChunkDecoder decoder;
  CounterBatch batch;
  for (int64_t id : ids) {
    read.Bind(1, id);
    XP_TRY(bool row, read.Step());
    absl::Status sound = DataLoss("chunk {} is missing", id);
    if (row) {
      batch.track_id = read.Column<int64_t>(0);
      sound = decoder.Samples(Blob(read, 3), read.Column<int64_t>(1), read.Column<int64_t>(2),
                              &batch.ts_ns, &batch.value);
    }
    read.Reset();
    if (!sound.ok()) continue;  // a damaged chunk is left out; ReadDamagedStore counts it
    auto first = std::lower_bound(batch.ts_ns.begin(), batch.ts_ns.end(),
                                  slice.from_ns.value_or(INT64_MIN)) -
                 batch.ts_ns.begin();
    auto last =
        std::upper_bound(batch.ts_ns.begin(), batch.ts_ns.end(), slice.to_ns.value_or(INT64_MAX)) -
        batch.ts_ns.begin();
    batch.ts_ns.erase(batch.ts_ns.begin() + last, batch.ts_ns.end());
    batch.value.erase(batch.value.begin() + last, batch.value.end());
    batch.ts_ns.erase(batch.ts_ns.begin(), batch.ts_ns.begin() + std::min(first, last));
    batch.value.erase(batch.value.begin(), batch.value.begin() + std::min(first, last));
    if (!batch.ts_ns.empty()) XP_TRY(fn(batch));
  }
  return absl::OkStatus();
}

}  // namespace xlaprof
