// Packs the columns of events, of one argument key, and of counter values into the bytes of a
// chunk, and unpacks them. docs/formats/chunk.md describes the format in prose. This header is
// internal to profiler/store and its tests and does not depend on SQLite. Decoders accept hostile
// bytes: whatever a blob holds, they return DataLoss or columns of the promised size. They allocate
// in proportion to the count, which is capped.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "profiler/store/events.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace xlaprof {

// The most values of one argument key in one chunk. There are more values than events only if an
// event repeats a key.
inline constexpr size_t kChunkArguments = 1 << 20;

std::string_view ArgTypeName(ArgType type);
std::optional<ArgType> ArgTypeFromName(std::string_view name);
// Returns the value for which ArgBits() returned `bits`, exactly for every type.
inline ArgValue ArgFromBits(ArgType type, uint64_t bits) {
  switch (type) {
    case ArgType::kInt:
      return int64_t(bits);
    case ArgType::kUint:
      return bits;
    case ArgType::kDouble:
      return std::bit_cast<double>(bits);
    case ArgType::kString:
      return Text{StringId(bits)};
    case ArgType::kBytes:
      return Bytes{StringId(bits)};
  }
  return int64_t(0);
}

// Orders the events of a chunk by start, then the longest first. An event that never ended counts
// as endless.
inline constexpr auto EventBefore = [](const Event& a, const Event& b) {
  return a.ts_ns != b.ts_ns ? a.ts_ns < b.ts_ns : uint64_t(a.dur_ns) > uint64_t(b.dur_ns);
};
// Returns where an event ends, for max_end_ns and time ranges. An event that never ended ends where
// it began. The sum saturates.
inline int64_t EventEnd(int64_t ts_ns, int64_t dur_ns) {
  int64_t end;
  if (dur_ns <= 0) return ts_ns;
  return __builtin_add_overflow(ts_ns, dur_ns, &end) ? INT64_MAX : end;
}

// Writes the checksum of `count` values into a blob. Encoders do this themselves; tests of hostile
// bytes need it.
void SealForTest(std::string* blob, uint64_t count);

// The events of a chunk, one vector per column.
struct EventColumns {
  size_t size = 0;
  std::vector<int64_t> ts_ns, dur_ns;
  std::vector<StringId> name, category;
  std::vector<uint16_t> depth;
  std::vector<uint64_t> flow_in, flow_out;  // when encoding, empty if no event has one
  std::vector<StringId> names;              // decoded with kName, kCategory or kNameIndex
  std::vector<uint16_t> name_index;         // decoded with the same columns

  // Makes room for `count` events without flows, whose values are to be set.
  void Resize(size_t count);
  // Sets all columns to `events`, with depth 0.
  void Assign(std::span<const Event> events);
};
// Asks ChunkDecoder for names and name_index without the name column.
inline constexpr uint32_t kNameIndex = 1u << 31;

struct EncodedEvents {
  std::string columns;
  std::vector<StringId> names;       // the chunk's dictionary, most frequent first
  std::vector<uint16_t> name_index;  // for each event, an index into names
  int64_t min_ts_ns = 0, max_end_ns = 0, max_dur_ns = 0;
};

// Packs columns. Keeps its compression context and buffers between calls, so only one thread at a
// time may use it.
class ChunkEncoder {
 public:
  ChunkEncoder();
  ~ChunkEncoder();
  ChunkEncoder(const ChunkEncoder&) = delete;

  // Packs 1 to kChunkEvents events, which must be in the order of EventBefore.
  void Events(const EventColumns& events, EncodedEvents* out);
  // Packs the values of one key. `index` holds the event or name of each value (ascending, repeats
  // allowed, below `limit`), and `bits` the bits of each value.
  std::string Arguments(ArgType type, std::span<const uint32_t> index,
                        std::span<const uint64_t> bits, size_t limit);
  // Packs values in ascending time; the time of the first is the row's min_ts_ns.
  std::string Samples(std::span<const int64_t> ts_ns, std::span<const double> value);

 private:
  void Start(std::string* out);
  uint8_t* Room(size_t bytes);
  void Section(const uint8_t* end, std::string* out);
  size_t Compress(const uint8_t* bytes, size_t size);
  uint32_t& LocalOf(StringId id);
  void Times(const EventColumns& events, EncodedEvents* out);
  void Names(const EventColumns& events, EncodedEvents* out);
  void Categories(const EventColumns& events, EncodedEvents* out);
  uint8_t* Values(uint8_t* at, ArgType type, std::span<const uint64_t> bits);

  ZSTD_CCtx_s* zstd_;
  std::vector<uint8_t> raw_, packed_;
  // Local index + 1 by string id, for small ids; 0: not in this chunk.
  std::vector<uint32_t> local_of_id_;
  absl::flat_hash_map<StringId, uint32_t> local_of_large_id_;
};

// Returns whether a blob of `count` values, of any kind, is as its encoder wrote it, judging by its
// checksum.
bool ChunkIsSound(std::string_view blob, int64_t count);

struct ArgColumn {
  std::vector<uint32_t> index;  // the event or name of each value, ascending
  std::vector<uint64_t> bits;
};

// Unpacks only the columns that are asked for. Keeps its context and buffers between calls, so only
// one thread at a time may use it.
class ChunkDecoder {
 public:
  ChunkDecoder();
  ~ChunkDecoder();
  ChunkDecoder(const ChunkDecoder&) = delete;

  // Unpacks events. `count` and `min_ts_ns` are those of the row; `columns` are EventColumn bits
  // and kNameIndex. Columns that are not asked for keep what they held.
  absl::Status Events(std::string_view blob, int64_t count, int64_t min_ts_ns, uint32_t columns,
                      EventColumns* out);
  // Returns whether an event has one of `categories`. Returns true for damaged blobs as well.
  bool HasCategory(std::string_view blob, int64_t count, std::span<const StringId> categories);
  // Returns whether an event has a flow. Returns true for damaged blobs as well.
  bool HasFlow(std::string_view blob, int64_t count);
  absl::Status Arguments(std::string_view blob, ArgType type, int64_t count, size_t limit,
                         ArgColumn* out);
  absl::Status Samples(std::string_view blob, int64_t count, int64_t min_ts_ns,
                       std::vector<int64_t>* ts_ns, std::vector<double>* value);

 private:
  struct Reader;
  bool Open(Reader* blob, size_t max_raw, bool wanted, Reader* section);
  bool Values(Reader* in, ArgType type, size_t count, std::vector<uint64_t>* bits);

  ZSTD_DCtx_s* zstd_ = nullptr;  // made for the first section that is compressed
  std::vector<uint8_t> raw_;
  std::vector<uint32_t> index_, positions_;
  std::vector<uint64_t> bits_;
};

}  // namespace xlaprof
