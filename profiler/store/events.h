// Events, their arguments and counters are written through an EventWriter and read through an
// EventScanner. Both work on chunks (docs/formats/chunk.md). A scan that reads only some columns
// costs a few nanoseconds per event.
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

#include "base/category.h"
#include "profiler/store/store.h"

namespace xlaprof {

inline constexpr int64_t kUnknownDuration = -1;

struct Event {
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;  // 0: instant; kUnknownDuration: never ended
  StringId name = 0;
  StringId category = 0;
  // An event with flow_out f points to the events with flow_in f. 0: none.
  uint64_t flow_in = 0, flow_out = 0;
};

struct Bytes {
  StringId id = 0;  // interned with bytes = true
};
struct Text {
  StringId id = 0;
};
// The value of an argument: int, uint, double, string (interned) or bytes (interned).
using ArgValue = std::variant<int64_t, uint64_t, double, Text, Bytes>;
// The type of an argument (arg_chunk.type), in the order of ArgValue's alternatives.
enum class ArgType : uint8_t { kInt, kUint, kDouble, kString, kBytes };
inline ArgType ArgTypeOf(const ArgValue& value) { return ArgType(value.index()); }
// Returns a value as 64 bits: two's complement, IEEE 754 bits, or string id.
inline uint64_t ArgBits(const ArgValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return uint64_t(*number);
  if (const auto* number = std::get_if<uint64_t>(&value)) return *number;
  if (const auto* number = std::get_if<double>(&value)) return std::bit_cast<uint64_t>(*number);
  if (const auto* text = std::get_if<Text>(&value)) return text->id;
  return std::get<Bytes>(value).id;
}

// The event that a flow meets if its end is given as a thread and a time. The flow leaves the
// innermost event that is open then, enters that event, or enters the next event to begin.
enum class FlowEnd : uint8_t { kOut, kInEnclosing, kInNext };

// The ends of flows that could not be attached to an event.
struct UnboundFlows {
  int64_t count = 0;
  int64_t first_offset = INT64_MAX;  // the smallest offset in the source

  void Add(const UnboundFlows& other) {
    count += other.count;
    first_offset = std::min(first_offset, other.first_offset);
  }
};

// Writes events, their arguments and counters. It buffers them per track, sorts each track by time
// and packs it into chunks of up to kChunkEvents. Calls must come from one thread; the writer packs
// large chunks on one worker thread of its own. Call Flush and check its status before Commit:
// until then, part of the events may be in memory only. A track whose events come nearly in order
// is written while it grows. When about a million events are buffered, the largest track is
// written, so that memory stays bounded. The depth of an event counts the events around it on its
// track that are in the same Flush or were written before it.
class EventWriter {
 public:
  static constexpr int kChunkEvents = 65536;

  explicit EventWriter(Store& store);
  explicit EventWriter(sqlite3* db);  // for callers that have only a connection (virtual tables)
  ~EventWriter();

  // Adds an event to a track. Arg and Label refer to it until the next Add.
  absl::Status Add(int64_t track_id, const Event& event) {
    return Add(track_id, event.ts_ns, event.dur_ns, event.name, event.category, event.flow_in,
               event.flow_out);
  }
  // Adds an argument to the event that Add took last.
  void Arg(StringId key, const ArgValue& value) { Arg(key, ArgTypeOf(value), ArgBits(value)); }
  // Adds a text that almost every event of the source has to the event that Add took last. It takes
  // less memory and time than Arg. A writer has one key for labels, and an event has one label.
  // Other events may have this key by Arg; an event that has both repeats the key, its label first.
  void Label(StringId key, Text text);
  // Adds an argument that every event named `name` on this track has. It is stored once per chunk.
  void NameArg(int64_t track_id, StringId name, StringId key, const ArgValue& value);
  absl::Status Counter(int64_t track_id, int64_t ts_ns, double value);
  // Adds an end of a flow that the source describes apart from its event (Chrome's phases s, t, f).
  // The event gets it when the event is written, so events and ends may come in any order. Only an
  // end that comes after a whole chunk of later events is too late. `offset` is the offset of its
  // record in the source.
  void Flow(int64_t track_id, int64_t ts_ns, uint64_t flow, FlowEnd end, int64_t offset);
  // Returns, by track, the ends given to Flow that met no event, or an event that has another flow
  // there already. An event keeps one incoming and one outgoing flow. Complete after Flush.
  const std::map<int64_t, UnboundFlows>& unbound_flows() const;
  // Writes a track early, when the caller knows that it is complete, and reuses its memory for the
  // next track.
  absl::Status Finish(int64_t track_id);
  absl::Status Flush();

 private:
  // Values that a caller has in registers need not go through memory with these overloads.
  absl::Status Add(int64_t track_id, int64_t ts_ns, int64_t dur_ns, StringId name,
                   StringId category, uint64_t flow_in, uint64_t flow_out);
  void Arg(StringId key, ArgType type, uint64_t bits);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Decoded columns of one chunk, or of a part of it if a time range leaves events out. The spans of
// columns that were not asked for are empty. Valid until the next Next(). Event i has the id
// first_event_id + i and the index first_index + i in its chunk (for ReadArguments and
// ReadArgumentColumn).
struct EventBatch {
  int64_t chunk_id = 0, track_id = 0, first_event_id = 0, first_index = 0;
  size_t size = 0;
  // Sorted by start, then the longest first; an event that never ended counts as endless.
  std::span<const int64_t> ts_ns, dur_ns;
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
// track may overlap in time; the events of each are sorted. Respects the chosen part of the run:
// events that end before it or start after it are left out.
class EventScanner {
 public:
  struct Options {
    uint32_t columns = kAllEventColumns;
    std::vector<int64_t> track_ids = {};  // empty: all
    // Keep events that overlap [from, to]; an event that never ended counts as its start.
    OptInt from_ns = {}, to_ns = {};
    // Leave out chunks in which no event has one of these categories (0: no category). The chunks
    // that are returned may also hold events of other categories. Empty: all chunks.
    std::vector<StringId> categories = {};
    // Leave out chunks that overlap none of these times, each from its first to its second ns. The
    // chunks that are returned may also hold other events. Empty: all chunks.
    std::vector<std::pair<int64_t, int64_t>> times_ns = {};
  };
  static absl::StatusOr<EventScanner> Make(const Store& store, Options options);
  EventScanner(EventScanner&&) noexcept;
  ~EventScanner();
  // Returns false at the end. Damaged chunks are skipped and counted in `skipped_chunks`.
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
// Returns all arguments of one event, given by its chunk and index. by_name arguments are included.
// Sorted by the text of the key.
absl::StatusOr<std::vector<Argument>> ReadArguments(const Store& store, int64_t chunk_id,
                                                    int64_t index);

// Returns the values of one argument key in a chunk: value[i] for event i, std::nullopt if it has
// none.
absl::StatusOr<std::vector<std::optional<ArgValue>>> ReadArgumentColumn(const Store& store,
                                                                        int64_t chunk_id,
                                                                        StringId key);

struct CounterBatch {
  int64_t track_id = 0;
  std::vector<int64_t> ts_ns;
  std::vector<double> value;
};
// Calls fn with the values of all counter tracks, or of one, chunk by chunk, by track and time.
absl::Status EachCounterBatch(const Store& store,
                              const std::function<absl::Status(const CounterBatch&)>& fn);
absl::Status EachCounterBatch(const Store& store, OptInt track_id,
                              const std::function<absl::Status(const CounterBatch&)>& fn);

}  // namespace xlaprof
