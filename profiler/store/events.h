// Events, their arguments and counters: written through an EventWriter, read through an
// EventScanner. Both work on chunks (docs/formats/chunk.md): a scan of pruned columns costs a few
// nanoseconds an event.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/category.h"
#include "profiler/store/store.h"

namespace xlaprof {

inline constexpr int64_t kUnknownDuration = -1;

struct Event {
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;  // 0: instant; kUnknownDuration: never ended
  StringId name = 0;
  StringId category = 0;
  uint64_t flow_in = 0,
           flow_out = 0;  // 0: none; an event with flow_out f points to those with flow_in f
};

struct Bytes {
  StringId id = 0;  // interned with bytes = true
};
struct Text {
  StringId id = 0;
};
// int, uint, double, string (interned), bytes (interned).
using ArgValue = std::variant<int64_t, uint64_t, double, Text, Bytes>;
// arg_chunk.type. The order is that of ArgValue's alternatives.
enum class ArgType : uint8_t { kInt, kUint, kDouble, kString, kBytes };
inline ArgType ArgTypeOf(const ArgValue& value) { return ArgType(value.index()); }
// A value as 64 bits: two's complement, IEEE 754 bits, or string id.
inline uint64_t ArgBits(const ArgValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return uint64_t(*number);
  if (const auto* number = std::get_if<uint64_t>(&value)) return *number;
  if (const auto* number = std::get_if<double>(&value)) return std::bit_cast<uint64_t>(*number);
  if (const auto* text = std::get_if<Text>(&value)) return text->id;
  return std::get<Bytes>(value).id;
}

// How a flow whose end is a thread and a time meets an event there: it leaves the innermost one
// that is open, enters that one, or enters the next to begin.
enum class FlowEnd : uint8_t { kOut, kInEnclosing, kInNext };

// Ends of flows that no event got.
struct UnboundFlows {
  int64_t count = 0;
  int64_t first_offset = INT64_MAX;  // the smallest, in the source

  void Add(const UnboundFlows& other) {
    count += other.count;
    first_offset = std::min(first_offset, other.first_offset);
  }
};

// Writes events, their arguments and counters: buffers them per track, sorts each track by time and
// packs it into chunks of up to kChunkEvents. Calls must come from one thread; the writer packs
// large chunks on one worker thread of its own. Call Flush and check its status before Commit: until
// then, part of the events may be in memory only. A track whose events come nearly in order is
// written while it grows, and past about a million buffered events the largest track is, so memory
// stays bounded. The depth of an event counts the events around it on its track that are in the same
// Flush or were written before it.
class EventWriter {
 public:
  static constexpr int kChunkEvents = 65536;

  explicit EventWriter(Store& store);
  explicit EventWriter(sqlite3* db);  // the same, where there is a connection only (virtual tables)
  ~EventWriter();

  // Adds an event to a track; the reference is good for Arg calls until the next Add.
  absl::Status Add(int64_t track_id, const Event& event) {
    return Add(track_id, event.ts_ns, event.dur_ns, event.name, event.category, event.flow_in,
               event.flow_out);
  }
  // An argument of the event that Add took last.
  void Arg(StringId key, const ArgValue& value) { Arg(key, ArgTypeOf(value), ArgBits(value)); }
  // The same for a text that almost every event of the source has: it takes less memory and time.
  // One key a writer, once an event. Other events may have this key by Arg; one that has both
  // repeats it, its label first.
  void Label(StringId key, Text text);
  // An argument that every event named `name` on this track has, stored once a chunk.
  void NameArg(int64_t track_id, StringId name, StringId key, const ArgValue& value);
  absl::Status Counter(int64_t track_id, int64_t ts_ns, double value);
  // An end of a flow that is told apart from its event (Chrome's phases s, t, f); it is given to
  // the event when that is written, so events and ends may come in any order, but for ends that
  // come behind a whole chunk of later events. `offset` is that of its record in the source.
  void Flow(int64_t track_id, int64_t ts_ns, uint64_t flow, FlowEnd end, int64_t offset);
  // Of Flow, by track, those that met no event, or one that has another flow there: an event keeps
  // one that comes in and one that goes out. Known after Flush.
  const std::map<int64_t, UnboundFlows>& unbound_flows() const;
  // Writes a track early and gives its memory to the next one: for who knows that it is complete.
  absl::Status Finish(int64_t track_id);
  absl::Status Flush();

 private:
  // What a caller has in registers need not go through memory.
  absl::Status Add(int64_t track_id, int64_t ts_ns, int64_t dur_ns, StringId name,
                   StringId category, uint64_t flow_in, uint64_t flow_out);
  void Arg(StringId key, ArgType type, uint64_t bits);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Columns of one chunk, or of a part of it (where a time range leaves events out), decoded. Spans
// of columns that were not asked for are empty. Good until the next Next(). Event i has the id
// first_event_id + i, and the index first_index + i in its chunk (ReadArguments,
// ReadArgumentColumn).
struct EventBatch {
  int64_t chunk_id = 0, track_id = 0, first_event_id = 0, first_index = 0;
  size_t size = 0;
  std::span<const int64_t> ts_ns,
      dur_ns;  // sorted by start, then longest first (never ended: endless)
  std::span<const StringId> name, category;
  std::span<const uint16_t> depth;  // 0: outermost on its track
  std::span<const uint64_t> flow_in, flow_out;
};

enum EventColumn : uint32_t {
  kStart = 1,
  kDuration = 2,
  kName = 4,
  kDepth = 8,
  kCategory = 16,
  kFlowIn = 32,
  kFlowOut = 64,
  kAllEventColumns = 127,
};

// Streams the chunks of a store, by track and then by time, without SQL per event. Chunks of one
// track may overlap in time; each is sorted. Respects the store's slice (events that end before or
// start after it are left out).
class EventScanner {
 public:
  struct Options {
    uint32_t columns = kAllEventColumns;
    std::vector<int64_t> track_ids;  // empty: all
    OptInt from_ns,
        to_ns;  // keep events that overlap [from, to]; one that never ended counts as its start
    // Leave out chunks in which no event has one of these (0: none has); what is given still holds
    // others. Empty: all chunks.
    std::vector<StringId> categories = {};
  };
  static absl::StatusOr<EventScanner> Make(const Store& store, Options options);
  EventScanner(EventScanner&&) noexcept;
  ~EventScanner();
  // False at the end. Corrupt chunks are skipped and counted in `skipped_chunks`.
  absl::StatusOr<bool> Next(EventBatch* batch);
  int64_t skipped_chunks() const;

 private:
  struct Impl;
  explicit EventScanner(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// One argument of an event.
struct Argument {
  StringId key = 0;
  ArgValue value;
};
// All arguments of one event, by its chunk and index; by_name ones included. Sorted by key text.
absl::StatusOr<std::vector<Argument>> ReadArguments(const Store& store, int64_t chunk_id,
                                                    int64_t index);

// Values of one argument key over a chunk: value[i] for event i, std::nullopt where absent.
absl::StatusOr<std::vector<std::optional<ArgValue>>> ReadArgumentColumn(const Store& store,
                                                                        int64_t chunk_id,
                                                                        StringId key);

struct CounterBatch {
  int64_t track_id = 0;
  std::vector<int64_t> ts_ns;
  std::vector<double> value;
};
// Samples of the counter tracks, or of one, chunk by chunk, by track and time.
absl::Status EachCounterBatch(const Store& store,
                              const std::function<absl::Status(const CounterBatch&)>& fn);
absl::Status EachCounterBatch(const Store& store, OptInt track_id,
                              const std::function<absl::Status(const CounterBatch&)>& fn);

}  // namespace xlaprof
