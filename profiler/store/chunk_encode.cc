#include <zstd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "profiler/store/chunk.h"
#include "profiler/store/chunk_internal.h"
#include "profiler/store/varint_block.h"

namespace xlaprof {
namespace {

// Level 1 halves varint columns at 500 MB/s; level 3 gains 1 % for a third of the speed.
constexpr int kZstdLevel = 1;
// Below this size, a zstd frame's own header uses up the gain.
constexpr size_t kMinCompressed = 64;
// A section that does not shrink to less than one part in this many is stored as it is. Starts and
// durations of varied events shrink to half at best. Unpacking them would then be half of a scan,
// and packing them a third of a recording.
constexpr size_t kWorthUnpacking = 3;
// This many bytes from the middle of a long section are packed to find out whether to pack all of
// it.
constexpr size_t kProbeBytes = 4096;
// String ids below this are looked up in an array, larger ones (which Intern does not return in
// practice) in a hash table.
constexpr StringId kSmallIds = 1 << 22;

void Seal(std::string* blob, uint64_t count) {
  auto* bytes = reinterpret_cast<uint8_t*>(blob->data());
  uint32_t sum = Checksum(bytes + kHeaderBytes, blob->size() - kHeaderBytes, count);
  std::memcpy(bytes + 1, &sum, 4);
}

// Writes which of `limit` events (or names) the values belong to: all of them, or as gaps between
// them, or as a bitmap.
uint8_t* PutPlaces(uint8_t* p, std::span<const uint32_t> index, size_t limit) {
  bool repeats = false, sorted = true;
  size_t gap_bytes = 0;
  for (size_t i = 0; i < index.size(); ++i) {
    repeats |= i > 0 && index[i] == index[i - 1];
    sorted &= i == 0 || index[i] >= index[i - 1];
    gap_bytes += VarintBytes(index[i] - (i > 0 ? index[i - 1] : 0));
  }
  XP_CHECK(sorted && index.back() < limit);
  if (!repeats && index.size() == limit) {
    *p++ = kAll;
  } else if (!repeats && gap_bytes > (limit + 7) / 8) {
    *p++ = kBitmap;
    std::memset(p, 0, (limit + 7) / 8);
    for (uint32_t i : index) p[i / 8] |= uint8_t(1u << (i % 8));
    p += (limit + 7) / 8;
  } else {
    *p++ = kGaps;
    uint32_t last = 0;
    for (uint32_t i : index) p = PutVarint(p, i - std::exchange(last, i));
  }
  return p;
}

uint16_t AnyBits(std::span<const uint16_t> values) {
  uint16_t any = 0;
  for (uint16_t v : values) any |= v;
  return any;
}

// Writes varints. If `any_bits`, which has the bits of all values, is below 0x80, each takes one
// byte.
uint8_t* PutVarints(uint8_t* p, std::span<const uint16_t> values, uint64_t any_bits) {
  size_t i = 0;
  if (any_bits < 0x80) {
    constexpr size_t kAtOnce = 16;  // a loop of fixed length becomes one instruction or two
    for (; i + kAtOnce <= values.size(); i += kAtOnce, p += kAtOnce) {
      uint8_t bytes[kAtOnce];
      for (size_t k = 0; k < kAtOnce; ++k) bytes[k] = uint8_t(values[i + k]);
      std::memcpy(p, bytes, kAtOnce);
    }
  }
  for (; i < values.size(); ++i) p = PutVarint(p, values[i]);
  return p;
}

uint8_t* PutDifferences(uint8_t* p, std::span<const int64_t> ts_ns) {
  uint64_t block[kVarintBlock], last = uint64_t(ts_ns[0]);
  for (size_t from = 0; from < ts_ns.size(); from += kVarintBlock) {
    const size_t n = std::min(kVarintBlock, ts_ns.size() - from);
    for (size_t i = 0; i < n; ++i)
      block[i] = uint64_t(ts_ns[from + i]) - std::exchange(last, uint64_t(ts_ns[from + i]));
    p = EncodeVarints(std::span(block, n), p);
  }
  return p;
}

bool IsWhole(double v) {
  return std::abs(v) < 9007199254740992.0 && v == std::floor(v) && !(v == 0 && std::signbit(v));
}

}  // namespace

void SealForTest(std::string* blob, uint64_t count) { Seal(blob, count); }

ChunkEncoder::ChunkEncoder() : zstd_(ZSTD_createCCtx()) { XP_CHECK(zstd_ != nullptr); }
ChunkEncoder::~ChunkEncoder() { ZSTD_freeCCtx(zstd_); }

void ChunkEncoder::Start(std::string* out) {
  out->assign(kHeaderBytes, '\0');
  (*out)[0] = char(kFormatVersion);
}

uint8_t* ChunkEncoder::Room(size_t bytes) {
  if (raw_.size() < bytes) raw_.resize(bytes);
  return raw_.data();
}

// Returns the local number of a string id in this chunk, for reading and setting; 0: none yet.
inline uint32_t& ChunkEncoder::LocalOf(StringId id) {
  if (id >= kSmallIds) [[unlikely]]
    return local_of_large_id_[id];
  if (id >= local_of_id_.size()) local_of_id_.resize(size_t(id) + id / 2 + 64);
  return local_of_id_[id];
}

// Packs into packed_ and returns the packed size, or 0 if packing is not worth it.
size_t ChunkEncoder::Compress(const uint8_t* bytes, size_t size) {
  if (packed_.size() < ZSTD_compressBound(size)) packed_.resize(ZSTD_compressBound(size));
  const size_t packed =
      ZSTD_compressCCtx(zstd_, packed_.data(), packed_.size(), bytes, size, kZstdLevel);
  return !ZSTD_isError(packed) && packed < size / kWorthUnpacking ? packed : 0;
}

// Appends raw_ up to `end` as a section.
void ChunkEncoder::Section(const uint8_t* end, std::string* out) {
  const size_t raw = size_t(end - raw_.data());
  const uint8_t* bytes = raw_.data();
  size_t stored = raw;
  Codec codec = kRaw;
  if (raw >= kMinCompressed &&
      (raw < 4 * kProbeBytes || Compress(raw_.data() + raw / 2, kProbeBytes) > 0)) {
    if (const size_t packed = Compress(raw_.data(), raw); packed > 0) {
      codec = kZstd;
      stored = packed;
      bytes = packed_.data();
    }
  }
  uint8_t head[24];
  uint8_t* p = head;
  *p++ = codec;
  p = PutVarint(p, raw);
  p = PutVarint(p, stored);
  out->append(reinterpret_cast<char*>(head), size_t(p - head));
  out->append(reinterpret_cast<const char*>(bytes), stored);
}

void ChunkEncoder::Events(const EventColumns& events, EncodedEvents* out) {
  const size_t n = events.size;
  XP_CHECK(n > 0 && n <= size_t(EventWriter::kChunkEvents));
  Start(&out->columns);
  uint8_t* const start = Room(n * kMaxBytesAValue + kMaxBytesBeside);
  Times(events, out);
  Names(events, out);

  uint8_t* p = start;
  const uint16_t any_depth = AnyBits(events.depth);
  if (any_depth != 0) p = PutVarints(p, events.depth, any_depth);
  Section(p, &out->columns);

  Categories(events, out);
  for (const std::vector<uint64_t>* flow : {&events.flow_in, &events.flow_out}) {
    std::vector<uint32_t> places;
    for (size_t i = 0; i < flow->size(); ++i) {
      if ((*flow)[i] != 0) places.push_back(uint32_t(i));
    }
    p = start;
    if (!places.empty()) {
      p = PutVarint(p, places.size());
      p = PutPlaces(p, places, n);
      uint64_t before = 0;
      for (uint32_t i : places)
        p = PutVarint(p, ZigZag(int64_t((*flow)[i] - std::exchange(before, (*flow)[i]))));
    }
    Section(p, &out->columns);
  }
  Seal(&out->columns, n);
}

void ChunkEncoder::Times(const EventColumns& events, EncodedEvents* out) {
  const std::span<const int64_t> ts_ns = events.ts_ns, dur_ns = events.dur_ns;
  uint8_t* p = PutDifferences(raw_.data(), ts_ns);
  Section(p, &out->columns);

  p = raw_.data();
  int64_t max_end_ns = INT64_MIN, max_dur_ns = 0;
  uint64_t block[kVarintBlock];
  for (size_t from = 0; from < dur_ns.size(); from += kVarintBlock) {
    const size_t n = std::min(kVarintBlock, dur_ns.size() - from);
    for (size_t i = 0; i < n; ++i) {
      const int64_t dur = dur_ns[from + i];
      block[i] = uint64_t(dur) + 1;
      max_end_ns = std::max(max_end_ns, EventEnd(ts_ns[from + i], dur));
      max_dur_ns = std::max(max_dur_ns, dur);
    }
    p = EncodeVarints(std::span(block, n), p);
  }
  Section(p, &out->columns);
  out->min_ts_ns = ts_ns[0];
  out->max_end_ns = max_end_ns;
  out->max_dur_ns = max_dur_ns;
}

// Writes the dictionary, most frequent name first, and then one index per event unless there is
// only one name.
void ChunkEncoder::Names(const EventColumns& events, EncodedEvents* out) {
  std::vector<StringId> found;
  std::vector<uint32_t> count;
  std::span<const uint32_t> known = local_of_id_;
  out->name_index.resize(events.size);
  const std::span<uint16_t> index = out->name_index;
  for (size_t i = 0; i < index.size(); ++i) {
    const StringId id = events.name[i];
    uint32_t local = id < known.size() ? known[id] : 0;
    if (local == 0) [[unlikely]] {
      uint32_t& slot = LocalOf(id);
      if (slot == 0) {
        found.push_back(id);
        count.push_back(0);
        slot = uint32_t(found.size());
      }
      local = slot;
      known = local_of_id_;
    }
    ++count[local - 1];
    index[i] = uint16_t(local - 1);
  }
  for (StringId id : found) {
    if (id < kSmallIds) local_of_id_[id] = 0;
  }
  local_of_large_id_.clear();
  std::vector<uint32_t> order(found.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return count[a] > count[b]; });
  std::vector<uint16_t> rank(found.size());
  out->names.resize(found.size());
  for (size_t i = 0; i < order.size(); ++i) {
    rank[order[i]] = uint16_t(i);
    out->names[i] = found[order[i]];
  }
  for (uint16_t& name : index) name = rank[name];
  uint8_t* p = PutVarint(raw_.data(), found.size());
  for (StringId id : out->names) p = PutVarint(p, id);
  if (found.size() > 1) p = PutVarints(p, index, found.size() - 1);
  Section(p, &out->columns);
}

// Writes one category for all events, one per name, or one per event.
void ChunkEncoder::Categories(const EventColumns& events, EncodedEvents* out) {
  const std::vector<StringId>& category = events.category;
  uint8_t* p = raw_.data();
  if (std::all_of(category.begin(), category.end(), [&](StringId c) { return c == category[0]; })) {
    if (category[0] != 0) {
      *p++ = kOneCategory;
      p = PutVarint(p, category[0]);
    }
    return Section(p, &out->columns);
  }
  std::vector<StringId> of_name(out->names.size());
  for (size_t i = 0; i < events.size; ++i) of_name[out->name_index[i]] = category[i];
  bool fits_name = true;
  for (size_t i = 0; i < events.size; ++i) fits_name &= of_name[out->name_index[i]] == category[i];
  if (fits_name) {
    *p++ = kCategoryByName;
    for (StringId c : of_name) p = PutVarint(p, c);
  } else {
    absl::flat_hash_map<StringId, uint32_t> local;
    std::vector<StringId> categories;
    std::vector<uint32_t> index(events.size);
    for (size_t i = 0; i < events.size; ++i) {
      auto [at, added] = local.try_emplace(category[i], uint32_t(categories.size()));
      if (added) categories.push_back(category[i]);
      index[i] = at->second;
    }
    *p++ = kCategoryByEvent;
    p = PutVarint(p, categories.size());
    for (StringId c : categories) p = PutVarint(p, c);
    for (uint32_t i : index) p = PutVarint(p, i);
  }
  Section(p, &out->columns);
}

// Writes values in the smallest of these forms: plain varints (zigzag for ints), zigzag
// differences, a dictionary, or 8 bytes each. Doubles that are all whole numbers can also be
// written as zigzag differences of those numbers.
uint8_t* ChunkEncoder::Values(uint8_t* p, ArgType type, std::span<const uint64_t> bits) {
  auto plain = [&](uint64_t v) { return type == ArgType::kInt ? ZigZag(int64_t(v)) : v; };
  const bool real = type == ArgType::kDouble;
  size_t plain_bytes = 0, delta_bytes = 0, fixed_bytes = bits.size() * 8, whole_bytes = 0,
         dictionary_bytes = 0;
  bool whole = real;
  uint64_t last = 0;
  int64_t last_whole = 0;
  absl::flat_hash_map<uint64_t, uint32_t> frequency;
  const size_t max_distinct = bits.size() / 4 + 1;
  for (uint64_t v : bits) {
    plain_bytes += VarintBytes(plain(v));
    delta_bytes += VarintBytes(ZigZag(int64_t(v - std::exchange(last, v))));
    if (whole) {
      double d = std::bit_cast<double>(v);
      whole = IsWhole(d);
      if (whole)
        whole_bytes += VarintBytes(ZigZag(int64_t(d) - std::exchange(last_whole, int64_t(d))));
    }
    if (frequency.size() <= max_distinct) ++frequency[v];
  }
  std::vector<std::pair<uint64_t, uint32_t>> values;
  const bool dictionary = frequency.size() <= max_distinct;
  if (dictionary) {
    values.assign(frequency.begin(), frequency.end());
    std::sort(values.begin(), values.end(), [](auto& a, auto& b) {
      return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    for (size_t i = 0; i < values.size(); ++i) {
      dictionary_bytes += real ? 8 : VarintBytes(plain(values[i].first));
      if (values.size() > 1) dictionary_bytes += values[i].second * VarintBytes(i);
    }
  }
  if (real) plain_bytes = delta_bytes = SIZE_MAX;
  if (!whole) whole_bytes = SIZE_MAX;
  if (!dictionary) dictionary_bytes = SIZE_MAX;
  const size_t best =
      std::min({plain_bytes, delta_bytes, fixed_bytes, whole_bytes, dictionary_bytes});
  auto put_fixed = [](uint8_t* to, uint64_t v) {
    std::memcpy(to, &v, 8);
    return to + 8;
  };
  last = 0;
  if (best == dictionary_bytes) {
    *p++ = kDictionary;
    p = PutVarint(p, values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      frequency[values[i].first] = uint32_t(i);
      p = real ? put_fixed(p, values[i].first) : PutVarint(p, plain(values[i].first));
    }
    if (values.size() > 1) {
      for (uint64_t v : bits) p = PutVarint(p, frequency[v]);
    }
  } else if (best == plain_bytes) {
    *p++ = kPlain;
    for (uint64_t v : bits) p = PutVarint(p, plain(v));
  } else if (best == delta_bytes) {
    *p++ = kDelta;
    for (uint64_t v : bits) p = PutVarint(p, ZigZag(int64_t(v - std::exchange(last, v))));
  } else if (best == whole_bytes) {
    *p++ = kWholeDelta;
    last_whole = 0;
    for (uint64_t v : bits) {
      int64_t d = int64_t(std::bit_cast<double>(v));
      p = PutVarint(p, ZigZag(d - std::exchange(last_whole, d)));
    }
  } else {
    *p++ = kFixed;
    for (uint64_t v : bits) p = put_fixed(p, v);
  }
  return p;
}

std::string ChunkEncoder::Arguments(ArgType type, std::span<const uint32_t> index,
                                    std::span<const uint64_t> bits, size_t limit) {
  XP_CHECK(index.size() == bits.size() && !bits.empty() && bits.size() <= kChunkArguments);
  std::string out;
  Start(&out);
  uint8_t* start = Room(std::max(bits.size(), limit) * kMaxBytesAValue + kMaxBytesBeside);
  Section(PutPlaces(start, index, limit), &out);
  Section(Values(start, type, bits), &out);
  Seal(&out, bits.size());
  return out;
}

std::string ChunkEncoder::Samples(std::span<const int64_t> ts_ns, std::span<const double> value) {
  const size_t n = ts_ns.size();
  XP_CHECK(n > 0 && n <= size_t(EventWriter::kChunkEvents) && value.size() == n);
  std::string out;
  Start(&out);
  uint8_t* start = Room(n * kMaxBytesAValue + kMaxBytesBeside);
  Section(PutDifferences(start, ts_ns), &out);
  std::vector<uint64_t> bits(n);
  std::memcpy(bits.data(), value.data(), n * 8);
  Section(Values(start, ArgType::kDouble, bits), &out);
  Seal(&out, n);
  return out;
}

}  // namespace xlaprof
