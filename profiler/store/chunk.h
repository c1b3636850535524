// The bytes of a chunk: how the columns of events, of one argument key, and of counter samples are
// packed. docs/formats/chunk.md is the same in prose. Internal to profiler/store and its tests;
// knows nothing of SQLite. Decoders take hostile bytes: whatever a blob holds, they return DataLoss
// or columns of the promised size, and allocate in proportion to the count, which is capped.
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

#include "core/base/status.h"
#include "profiler/store/events.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace xlaprof {

// Values of one argument key in one chunk; more than an event each only where an event repeats a
// key.
inline constexpr size_t kChunkArguments = 1 << 20;

std::string_view ArgTypeName(ArgType type);
std::optional<ArgType> ArgTypeFromName(std::string_view name);
// What ArgBits() gave, exact for every type.
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

// Order of the events of a chunk: by start, then the longest first; one that never ended counts as
// endless.
inline constexpr auto EventBefore = [](const Event& a, const Event& b) {
  return a.ts_ns != b.ts_ns ? a.ts_ns < b.ts_ns : uint64_t(a.dur_ns) > uint64_t(b.dur_ns);
};
// Where an event ends for max_end_ns and time ranges: one that never ended ends where it began.
// Saturates.
inline int64_t EventEnd(int64_t ts_ns, int64_t dur_ns) {
  int64_t end;
  if (dur_ns <= 0) return ts_ns;
  return __builtin_add_overflow(ts_ns, dur_ns, &end) ? INT64_MAX : end;
}

// Writes the checksum of `count` values into a blob; encoders do it themselves, tests of hostile
// bytes need it.
void SealForTest(std::string* blob, uint64_t count);

// The events of a chunk, a vector a column.
struct EventColumns {
  size_t size = 0;
  std::vector<int64_t> ts_ns, dur_ns;
  std::vector<StringId> name, category;
  std::vector<uint16_t> depth;
  std::vector<uint64_t> flow_in, flow_out;  // to encode: empty where no event has one
  std::vector<StringId> names;              // decoded with kName, kCategory or kNameIndex
  std::vector<uint16_t> name_index;         // likewise

  // Room for `count` events without flows, whose values are to be set.
  void Resize(size_t count);
  // These, all of depth 0.
  void Assign(std::span<const Event> events);
};
// Asks ChunkDecoder for names and name_index without the name column.
inline constexpr uint32_t kNameIndex = 1u << 31;

struct EncodedEvents {
  std::string columns;
  std::vector<StringId> names;       // the chunk's dictionary, most frequent first
  std::vector<uint16_t> name_index;  // of each event, into names
  int64_t min_ts_ns = 0, max_end_ns = 0, max_dur_ns = 0;
};

// Packs columns. Keeps its compression context and buffers between calls; one thread at a time.
class ChunkEncoder {
 public:
  ChunkEncoder();
  ~ChunkEncoder();
  ChunkEncoder(const ChunkEncoder&) = delete;

  // 1 to kChunkEvents events in the order of EventBefore.
  void Events(const EventColumns& events, EncodedEvents* out);
  // Values of one key: `index` (event or name, ascending, repeats allowed, below `limit`) and the
  // bits of each value.
  std::string Arguments(ArgType type, std::span<const uint32_t> index,
                        std::span<const uint64_t> bits, size_t limit);
  // Samples in ascending time; the first is the row's min_ts_ns.
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
  std::vector<uint32_t>
      local_of_id_;  // local index + 1 by string id, for small ids; 0: not in this chunk
  absl::flat_hash_map<StringId, uint32_t> local_of_large_id_;
};

// Whether a blob of `count` values, of any kind, is as its encoder wrote it (by its checksum).
bool ChunkIsSound(std::string_view blob, int64_t count);

struct ArgColumn {
  std::vector<uint32_t> index;  // of the event or name, ascending
  std::vector<uint64_t> bits;
};

// Unpacks columns, only those asked for. Keeps its context and buffers between calls; one thread at
// a time.
class ChunkDecoder {
 public:
  ChunkDecoder();
  ~ChunkDecoder();
  ChunkDecoder(const ChunkDecoder&) = delete;

  // `count` and `min_ts_ns` are those of the row; `columns` are EventColumn bits and kNameIndex.
  // Columns that were not asked for keep what they held.
  absl::Status Events(std::string_view blob, int64_t count, int64_t min_ts_ns, uint32_t columns,
                      EventColumns* out);
  // Whether an event has one of `categories`; true as well for what is damaged.
  bool HasCategory(std::string_view blob, int64_t count, std::span<const StringId> categories);
  // Whether an event has a flow; true as well for what is damaged.
  bool HasFlow(std::string_view blob, int64_t count);
  absl::Status Arguments(std::string_view blob, ArgType type, int64_t count, size_t limit,
                         ArgColumn* out);
  absl::Status Samples(std::string_view blob, int64_t count, int64_t min_ts_ns,
                       std::vector<int64_t>* ts_ns, std::vector<double>* value);

 private:
  struct Reader;
  bool Open(Reader* blob, size_t max_raw, bool wanted, Reader* section);
  bool Values(Reader* in, ArgType type, size_t count, std::vector<uint64_t>* bits);

  ZSTD_DCtx_s* zstd_;
  std::vector<uint8_t> raw_;
  std::vector<uint32_t> index_, positions_;
  std::vector<uint64_t> bits_;
};

}  // namespace xlaprof
