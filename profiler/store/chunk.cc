#include "profiler/store/chunk.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

namespace xlaprof {
namespace {

// A blob: u8 version, u32 checksum of all that follows, then sections. A section: u8 codec, varint length of the raw
// bytes, varint length of the stored bytes, stored bytes. Integers are little-endian; a varint has 7 bits a byte,
// lowest first, and at most 10 bytes. A section of no bytes is a column that needs none.
constexpr uint8_t kFormatVersion = 1;
constexpr size_t kHeaderBytes = 5;
enum Codec : uint8_t { kRaw = 0, kZstd = 1 };
// Level 1 halves varint columns at 500 MB/s; level 3 gains 1 % for a third of the speed.
constexpr int kZstdLevel = 1;
// Below this a zstd frame's own header eats the gain.
constexpr size_t kMinCompressed = 64;
// No column needs more: two varints of 10 and 3 bytes (a value and its place) and a dictionary's share.
constexpr size_t kMaxBytesAValue = 16;
constexpr size_t kMaxBytesBeside = 64;
// String ids below this are looked up in an array, others (which no Intern gives in practice) in a hash table.
constexpr StringId kSmallIds = 1 << 22;

enum PlacesMode : uint8_t { kAll = 0, kGaps = 1, kBitmap = 2 };
enum ValuesMode : uint8_t { kPlain = 0, kDelta = 1, kDictionary = 2, kFixed = 3, kWholeDelta = 4 };
enum CategoryMode : uint8_t { kOneCategory = 0, kCategoryByName = 1, kCategoryByEvent = 2 };

uint64_t ZigZag(int64_t v) { return (uint64_t(v) << 1) ^ uint64_t(v >> 63); }
int64_t UnZigZag(uint64_t v) { return int64_t((v >> 1) ^ (0 - (v & 1))); }

uint8_t* PutVarint(uint8_t* p, uint64_t v) {
  while (v >= 0x80) {
    *p++ = uint8_t(v) | 0x80;
    v >>= 7;
  }
  *p++ = uint8_t(v);
  return p;
}
size_t VarintBytes(uint64_t v) { return size_t(std::bit_width(v | 1) + 6) / 7; }

uint64_t Load64(const uint8_t* p) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}

// Finds damage that decodes well: a page that was overwritten with another chunk's. Four lanes, so that it costs a
// fraction of a nanosecond an event. The count is part of it; the time is not, so that a clock can be shifted by an
// UPDATE of min_ts_ns.
uint32_t Checksum(const uint8_t* p, size_t n, uint64_t count) {
  constexpr uint64_t kMix = 0x9E3779B97F4A7C15;
  uint64_t lane[4] = {count * kMix + n, kMix, ~kMix, count};
  auto mix = [](uint64_t h, uint64_t v) {
    h = (h ^ v) * kMix;
    return h ^ (h >> 32);
  };
  while (n >= 32) {
    for (int i = 0; i < 4; ++i) lane[i] = mix(lane[i], Load64(p + 8 * i));
    p += 32;
    n -= 32;
  }
  uint8_t tail[32] = {};
  if (n > 0) std::memcpy(tail, p, n);
  for (int i = 0; i < 4; ++i) lane[i] = mix(lane[i], Load64(tail + 8 * i));
  return uint32_t(mix(mix(lane[0], lane[1]), mix(lane[2], lane[3])));
}

void Seal(std::string* blob, uint64_t count) {
  auto* bytes = reinterpret_cast<uint8_t*>(blob->data());
  uint32_t sum = Checksum(bytes + kHeaderBytes, blob->size() - kHeaderBytes, count);
  std::memcpy(bytes + 1, &sum, 4);
}

// Which of `limit` events (or names) the values belong to: all of them, gaps between them, or a bitmap.
uint8_t* PutPlaces(uint8_t* p, std::span<const uint32_t> index, size_t limit) {
  bool repeats = false;
  size_t gap_bytes = 0;
  for (size_t i = 0; i < index.size(); ++i) {
    repeats |= i > 0 && index[i] == index[i - 1];
    gap_bytes += VarintBytes(index[i] - (i > 0 ? index[i - 1] : 0));
  }
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

bool IsWhole(double v) {
  return std::abs(v) < 9007199254740992.0 && v == std::floor(v) && !(v == 0 && std::signbit(v));
}

}  // namespace

void SealForTest(std::string* blob, uint64_t count) { Seal(blob, count); }

std::string_view ArgTypeName(ArgType type) {
  constexpr std::string_view kNames[] = {"int", "uint", "double", "string", "bytes"};
  return kNames[size_t(type)];
}

std::optional<ArgType> ArgTypeFromName(std::string_view name) {
  for (uint8_t i = 0; i <= uint8_t(ArgType::kBytes); ++i) {
    if (name == ArgTypeName(ArgType(i))) return ArgType(i);
  }
  return std::nullopt;
}

uint64_t ArgBits(const ArgValue& value) {
  switch (ArgTypeOf(value)) {
    case ArgType::kInt: return uint64_t(std::get<int64_t>(value));
    case ArgType::kUint: return std::get<uint64_t>(value);
    case ArgType::kDouble: return std::bit_cast<uint64_t>(std::get<double>(value));
    case ArgType::kString: return std::get<Text>(value).id;
    case ArgType::kBytes: return std::get<Bytes>(value).id;
  }
  return 0;
}

ArgValue ArgFromBits(ArgType type, uint64_t bits) {
  switch (type) {
    case ArgType::kInt: return int64_t(bits);
    case ArgType::kUint: return bits;
    case ArgType::kDouble: return std::bit_cast<double>(bits);
    case ArgType::kString: return Text{StringId(bits)};
    case ArgType::kBytes: return Bytes{StringId(bits)};
  }
  return int64_t(0);
}

// --- encoding ---

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

// Appends raw_ up to `end` as a section.
void ChunkEncoder::Section(const uint8_t* end, std::string* out) {
  size_t raw = size_t(end - raw_.data());
  const uint8_t* bytes = raw_.data();
  size_t stored = raw;
  Codec codec = kRaw;
  if (raw >= kMinCompressed) {
    if (packed_.size() < ZSTD_compressBound(raw)) packed_.resize(ZSTD_compressBound(raw));
    size_t packed = ZSTD_compressCCtx(zstd_, packed_.data(), packed_.size(), raw_.data(), raw, kZstdLevel);
    if (!ZSTD_isError(packed) && packed < raw - raw / 8) {
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

void ChunkEncoder::Events(std::span<const Event> events, std::span<const uint16_t> depth, EncodedEvents* out) {
  const size_t n = events.size();
  XP_CHECK(n > 0 && n <= size_t(EventWriter::kChunkEvents) && depth.size() == n);
  Start(&out->columns);
  uint8_t* p = Room(n * kMaxBytesAValue + kMaxBytesBeside);
  uint8_t* const start = p;

  uint64_t last = uint64_t(events[0].ts_ns);
  for (const Event& event : events) p = PutVarint(p, uint64_t(event.ts_ns) - std::exchange(last, uint64_t(event.ts_ns)));
  Section(p, &out->columns);

  p = start;
  out->min_ts_ns = events[0].ts_ns;
  out->max_end_ns = INT64_MIN;
  out->max_dur_ns = 0;
  uint64_t any_flow_in = 0, any_flow_out = 0;
  for (const Event& event : events) {
    p = PutVarint(p, uint64_t(event.dur_ns) + 1);
    out->max_end_ns = std::max(out->max_end_ns, EventEnd(event.ts_ns, event.dur_ns));
    out->max_dur_ns = std::max(out->max_dur_ns, event.dur_ns);
    any_flow_in |= event.flow_in;
    any_flow_out |= event.flow_out;
  }
  Section(p, &out->columns);

  // Names: the dictionary, most frequent first, then an index an event unless there is one name only.
  std::vector<StringId> found;
  std::vector<uint32_t> frequency;
  out->name_index.resize(n);
  for (size_t i = 0; i < n; ++i) {
    StringId id = events[i].name;
    if (id < kSmallIds && id >= local_of_id_.size()) local_of_id_.resize(size_t(id) + id / 2 + 64);
    uint32_t& slot = id < kSmallIds ? local_of_id_[id] : local_of_large_id_[id];
    if (slot == 0) {
      found.push_back(id);
      frequency.push_back(0);
      slot = uint32_t(found.size());
    }
    ++frequency[slot - 1];
    out->name_index[i] = uint16_t(slot - 1);
  }
  for (StringId id : found) {
    if (id < kSmallIds) local_of_id_[id] = 0;
  }
  local_of_large_id_.clear();
  std::vector<uint32_t> order(found.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return frequency[a] > frequency[b]; });
  std::vector<uint16_t> rank(found.size());
  out->names.resize(found.size());
  for (size_t i = 0; i < order.size(); ++i) {
    rank[order[i]] = uint16_t(i);
    out->names[i] = found[order[i]];
  }
  p = PutVarint(start, found.size());
  for (StringId id : out->names) p = PutVarint(p, id);
  for (uint16_t& index : out->name_index) index = rank[index];
  if (found.size() > 1) {
    for (uint16_t index : out->name_index) p = PutVarint(p, index);
  }
  Section(p, &out->columns);

  p = start;
  if (std::any_of(depth.begin(), depth.end(), [](uint16_t d) { return d != 0; })) {
    for (uint16_t d : depth) p = PutVarint(p, d);
  }
  Section(p, &out->columns);

  // Category: one for all, one a name, or one an event.
  constexpr uint64_t kUnset = UINT64_MAX;
  std::vector<uint64_t> by_name(out->names.size(), kUnset);
  bool one = true, fits_name = true;
  for (size_t i = 0; i < n; ++i) {
    StringId category = events[i].category;
    uint64_t& known = by_name[out->name_index[i]];
    one &= category == events[0].category;
    fits_name &= known == kUnset || known == category;
    known = category;
  }
  p = start;
  if (one) {
    if (events[0].category != 0) {
      *p++ = kOneCategory;
      p = PutVarint(p, events[0].category);
    }
  } else if (fits_name) {
    *p++ = kCategoryByName;
    for (uint64_t category : by_name) p = PutVarint(p, category);
  } else {
    absl::flat_hash_map<StringId, uint32_t> local;
    std::vector<StringId> categories;
    std::vector<uint32_t> index(n);
    for (size_t i = 0; i < n; ++i) {
      auto [at, added] = local.try_emplace(events[i].category, uint32_t(categories.size()));
      if (added) categories.push_back(events[i].category);
      index[i] = at->second;
    }
    *p++ = kCategoryByEvent;
    p = PutVarint(p, categories.size());
    for (StringId category : categories) p = PutVarint(p, category);
    for (uint32_t i : index) p = PutVarint(p, i);
  }
  Section(p, &out->columns);

  for (auto flow : {&Event::flow_in, &Event::flow_out}) {
    p = start;
    if ((flow == &Event::flow_in ? any_flow_in : any_flow_out) != 0) {
      std::vector<uint32_t> places;
      for (size_t i = 0; i < n; ++i) {
        if (events[i].*flow != 0) places.push_back(uint32_t(i));
      }
      p = PutVarint(p, places.size());
      p = PutPlaces(p, places, n);
      uint64_t before = 0;
      for (uint32_t i : places) p = PutVarint(p, ZigZag(int64_t(events[i].*flow - std::exchange(before, events[i].*flow))));
    }
    Section(p, &out->columns);
  }
  Seal(&out->columns, n);
}

// Values, in the smallest of: plain varints (ints zigzag), zigzag differences, a dictionary, 8 bytes each; doubles
// that are all whole numbers also as differences of those.
uint8_t* ChunkEncoder::Values(uint8_t* p, ArgType type, std::span<const uint64_t> bits) {
  auto plain = [&](uint64_t v) { return type == ArgType::kInt ? ZigZag(int64_t(v)) : v; };
  const bool real = type == ArgType::kDouble;
  size_t plain_bytes = 0, delta_bytes = 0, fixed_bytes = bits.size() * 8, whole_bytes = 0, dictionary_bytes = 0;
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
      if (whole) whole_bytes += VarintBytes(ZigZag(int64_t(d) - std::exchange(last_whole, int64_t(d))));
    }
    if (frequency.size() <= max_distinct) ++frequency[v];
  }
  std::vector<std::pair<uint64_t, uint32_t>> values;
  const bool dictionary = frequency.size() <= max_distinct;
  if (dictionary) {
    values.assign(frequency.begin(), frequency.end());
    std::sort(values.begin(), values.end(),
              [](auto& a, auto& b) { return a.second != b.second ? a.second > b.second : a.first < b.first; });
    for (size_t i = 0; i < values.size(); ++i) {
      dictionary_bytes += real ? 8 : VarintBytes(plain(values[i].first));
      if (values.size() > 1) dictionary_bytes += values[i].second * VarintBytes(i);
    }
  }
  if (real) plain_bytes = delta_bytes = SIZE_MAX;
  if (!whole) whole_bytes = SIZE_MAX;
  if (!dictionary) dictionary_bytes = SIZE_MAX;
  const size_t best = std::min({plain_bytes, delta_bytes, fixed_bytes, whole_bytes, dictionary_bytes});
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

std::string ChunkEncoder::Arguments(ArgType type, std::span<const uint32_t> index, std::span<const uint64_t> bits,
                                    size_t limit) {
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
  uint8_t* p = start;
  uint64_t last = uint64_t(ts_ns[0]);
  for (int64_t ts : ts_ns) p = PutVarint(p, uint64_t(ts) - std::exchange(last, uint64_t(ts)));
  Section(p, &out);
  std::vector<uint64_t> bits(n);
  std::memcpy(bits.data(), value.data(), n * 8);
  Section(Values(start, ArgType::kDouble, bits), &out);
  Seal(&out, n);
  return out;
}

// --- decoding ---

struct ChunkDecoder::Reader {
  const uint8_t* p = nullptr;
  const uint8_t* end = nullptr;

  size_t left() const { return size_t(end - p); }
  bool Done() const { return p == end; }

  bool Varint(uint64_t* out) {
    uint64_t v = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (p == end) return false;
      uint64_t b = *p++;
      if (shift == 63 && b > 1) return false;
      v |= (b & 0x7f) << shift;
      if (b < 0x80) {
        *out = v;
        return true;
      }
    }
    return false;
  }

  // Calls emit(value) n times. Eight at a time while no bound can be crossed, which is nearly always.
  template <class Emit>
  bool Varints(size_t n, Emit&& emit) {
    while (n >= 8 && left() >= 80) {
      uint64_t word = Load64(p);
      if ((word & 0x8080808080808080) == 0) {
        for (int i = 0; i < 8; ++i) emit(uint64_t(p[i]));
        p += 8;
      } else {
        for (int i = 0; i < 8; ++i) {
          uint64_t v = *p++;
          if (v >= 0x80) {
            v &= 0x7f;
            int shift = 7;
            uint64_t b;
            do {
              b = *p++;
              v |= (b & 0x7f) << shift;
              shift += 7;
            } while (b >= 0x80 && shift < 70);
            if (b >= 0x80 || (shift == 70 && b > 1)) return false;
          }
          emit(v);
        }
      }
      n -= 8;
    }
    for (; n > 0; --n) {
      uint64_t v;
      if (!Varint(&v)) return false;
      emit(v);
    }
    return true;
  }

  bool Places(size_t n, size_t limit, std::vector<uint32_t>* out) {
    if (p == end) return false;
    out->clear();
    switch (*p++) {
      case kAll:
        if (n != limit) return false;
        out->resize(n);
        std::iota(out->begin(), out->end(), 0);
        return true;
      case kGaps: {
        if (left() < n) return false;
        out->reserve(n);
        uint64_t at = 0;
        bool ok = true;
        if (!Varints(n, [&](uint64_t gap) {
              at = gap < limit ? at + gap : limit;
              ok &= at < limit;
              out->push_back(uint32_t(at));
            })) {
          return false;
        }
        return ok;
      }
      case kBitmap: {
        size_t bytes = (limit + 7) / 8;
        if (left() < bytes || n > limit) return false;
        out->reserve(n);
        for (size_t i = 0; i < limit; ++i) {
          if (p[i / 8] >> (i % 8) & 1) out->push_back(uint32_t(i));
        }
        p += bytes;
        return out->size() == n;
      }
      default:
        return false;
    }
  }
};

ChunkDecoder::ChunkDecoder() : zstd_(ZSTD_createDCtx()) { XP_CHECK(zstd_ != nullptr); }
ChunkDecoder::~ChunkDecoder() { ZSTD_freeDCtx(zstd_); }

// Takes the next section off `blob`; its raw bytes, if they are wanted. They are good until the next Open.
bool ChunkDecoder::Open(Reader* blob, size_t max_raw, bool wanted, Reader* section) {
  if (blob->p == blob->end) return false;
  uint8_t codec = *blob->p++;
  uint64_t raw, stored;
  if (!blob->Varint(&raw) || !blob->Varint(&stored) || stored > blob->left() || raw > max_raw) return false;
  const uint8_t* bytes = blob->p;
  blob->p += stored;
  if (!wanted) return true;
  if (codec == kRaw) {
    *section = {bytes, bytes + stored};
    return raw == stored;
  }
  if (codec != kZstd) return false;
  if (raw_.size() < raw) raw_.resize(raw);
  if (ZSTD_decompressDCtx(zstd_, raw_.data(), raw, bytes, stored) != raw) return false;
  *section = {raw_.data(), raw_.data() + raw};
  return true;
}

namespace {

// Version and checksum; what follows them.
absl::StatusOr<std::string_view> Unseal(std::string_view blob, int64_t count, int64_t max_count) {
  if (blob.size() < kHeaderBytes) return DataLoss("chunk of {} bytes: too short", blob.size());
  if (uint8_t(blob[0]) != kFormatVersion) {
    return DataLoss("chunk of format {}, this xlaprof knows {}", int(uint8_t(blob[0])), int(kFormatVersion));
  }
  if (count < 0 || count > max_count) return DataLoss("chunk of {} values: the limit is {}", count, max_count);
  uint32_t sum;
  std::memcpy(&sum, blob.data() + 1, 4);
  blob.remove_prefix(kHeaderBytes);
  if (sum != Checksum(reinterpret_cast<const uint8_t*>(blob.data()), blob.size(), uint64_t(count))) {
    return DataLoss("chunk with a wrong checksum: its bytes were altered. `xlaprof recover` keeps the intact ones");
  }
  return blob;
}

absl::Status Bad(const char* column) { return DataLoss("chunk with an invalid {} column", column); }

}  // namespace

bool ChunkIsSound(std::string_view blob, int64_t count) { return Unseal(blob, count, kChunkArguments).ok(); }

absl::Status ChunkDecoder::Events(std::string_view bytes, int64_t count, int64_t min_ts_ns, uint32_t columns,
                                  EventColumns* out) {
  XP_TRY(bytes, Unseal(bytes, count, EventWriter::kChunkEvents));
  Reader blob{reinterpret_cast<const uint8_t*>(bytes.data()), reinterpret_cast<const uint8_t*>(bytes.data()) + bytes.size()};
  const size_t n = size_t(count);
  const size_t max_raw = n * kMaxBytesAValue + kMaxBytesBeside;
  out->size = n;
  Reader in;

  bool wanted = columns & kStart;
  if (!Open(&blob, max_raw, wanted, &in)) return Bad("start");
  if (wanted) {
    out->ts_ns.resize(n);
    int64_t* to = out->ts_ns.data();
    uint64_t ts = uint64_t(min_ts_ns);
    bool wrapped = false;
    if (!in.Varints(n, [&](uint64_t delta) {
          uint64_t before = std::exchange(ts, ts + delta);
          wrapped |= int64_t(ts) < int64_t(before);
          *to++ = int64_t(ts);
        }) ||
        wrapped || !in.Done()) {
      return Bad("start");
    }
  }

  wanted = columns & kDuration;
  if (!Open(&blob, max_raw, wanted, &in)) return Bad("duration");
  if (wanted) {
    out->dur_ns.resize(n);
    int64_t* to = out->dur_ns.data();
    if (!in.Varints(n, [&](uint64_t v) { *to++ = int64_t(v - 1); }) || !in.Done()) return Bad("duration");
  }

  wanted = columns & (kName | kCategory | kNameIndex);
  if (!Open(&blob, max_raw, wanted, &in)) return Bad("name");
  if (wanted) {
    uint64_t names = 0, all = 0, largest = 0;
    if (!in.Varint(&names) || names > n || (names == 0 && n > 0)) return Bad("name");
    out->names.resize(names);
    StringId* id = out->names.data();
    if (!in.Varints(names, [&](uint64_t v) { all |= v, *id++ = StringId(v); }) || all > UINT32_MAX) return Bad("name");
    out->name_index.resize(n);
    if (names > 1) {
      uint16_t* to = out->name_index.data();
      if (!in.Varints(n, [&](uint64_t v) { largest = std::max(largest, v), *to++ = uint16_t(v); }) || largest >= names) {
        return Bad("name");
      }
    } else {
      std::fill(out->name_index.begin(), out->name_index.end(), 0);
    }
    if (!in.Done()) return Bad("name");
    if (columns & kName) {
      out->name.resize(n);
      for (size_t i = 0; i < n; ++i) out->name[i] = out->names[out->name_index[i]];
    }
  }

  wanted = columns & kDepth;
  if (!Open(&blob, max_raw, wanted, &in)) return Bad("depth");
  if (wanted) {
    out->depth.resize(n);
    uint64_t all = 0;
    uint16_t* to = out->depth.data();
    if (in.Done()) {
      std::fill_n(to, n, 0);
    } else if (!in.Varints(n, [&](uint64_t v) { all |= v, *to++ = uint16_t(v); }) || all > UINT16_MAX || !in.Done()) {
      return Bad("depth");
    }
  }

  wanted = columns & kCategory;
  if (!Open(&blob, max_raw, wanted, &in)) return Bad("category");
  if (wanted) {
    out->category.resize(n);
    uint64_t all = 0, entries = 0, largest = 0;
    if (in.Done()) {
      std::fill_n(out->category.data(), n, 0);
    } else if (uint8_t mode = *in.p++; mode == kOneCategory) {
      if (!in.Varint(&all)) return Bad("category");
      std::fill_n(out->category.data(), n, StringId(all));
    } else if (mode == kCategoryByName) {
      index_.resize(out->names.size());
      uint32_t* to = index_.data();
      if (!in.Varints(out->names.size(), [&](uint64_t v) { all |= v, *to++ = StringId(v); })) return Bad("category");
      for (size_t i = 0; i < n; ++i) out->category[i] = index_[out->name_index[i]];
    } else if (mode == kCategoryByEvent) {
      if (!in.Varint(&entries) || entries > n) return Bad("category");
      index_.resize(entries);
      uint32_t* to = index_.data();
      if (!in.Varints(entries, [&](uint64_t v) { all |= v, *to++ = StringId(v); })) return Bad("category");
      to = out->category.data();
      if (!in.Varints(n, [&](uint64_t v) { largest = std::max(largest, v), *to++ = uint32_t(std::min<uint64_t>(v, n)); }) ||
          (n > 0 && largest >= entries)) {
        return Bad("category");
      }
      for (StringId& category : out->category) category = index_[category];
    } else {
      return Bad("category");
    }
    if (all > UINT32_MAX || !in.Done()) return Bad("category");
  }

  for (uint32_t flow : {kFlowIn, kFlowOut}) {
    wanted = columns & flow;
    if (!Open(&blob, max_raw, wanted, &in)) return Bad("flow");
    if (!wanted) continue;
    auto& to = flow == kFlowIn ? out->flow_in : out->flow_out;
    to.assign(n, 0);
    if (in.Done()) continue;
    uint64_t places, value = 0;
    if (!in.Varint(&places) || places > n || !in.Places(places, n, &positions_)) return Bad("flow");
    const uint32_t* at = positions_.data();
    if (!in.Varints(places, [&](uint64_t v) { to[*at++] = value += uint64_t(UnZigZag(v)); }) || !in.Done()) {
      return Bad("flow");
    }
  }
  return blob.Done() ? absl::OkStatus() : DataLoss("chunk with bytes behind its columns");
}

bool ChunkDecoder::Values(Reader* in, ArgType type, size_t n, std::vector<uint64_t>* bits) {
  if (in->Done()) return false;
  const bool real = type == ArgType::kDouble, is_int = type == ArgType::kInt;
  auto plain = [&](uint64_t v) { return is_int ? uint64_t(UnZigZag(v)) : v; };
  bits->resize(n);
  uint64_t* to = bits->data();
  uint64_t last = 0, largest = 0;
  switch (*in->p++) {
    case kPlain:
      if (real || !in->Varints(n, [&](uint64_t v) { *to++ = plain(v); })) return false;
      break;
    case kDelta:
      if (real || !in->Varints(n, [&](uint64_t v) { *to++ = last += uint64_t(UnZigZag(v)); })) return false;
      break;
    case kWholeDelta:
      if (!real || !in->Varints(n, [&](uint64_t v) {
            last += uint64_t(UnZigZag(v));
            *to++ = std::bit_cast<uint64_t>(double(int64_t(last)));
          })) {
        return false;
      }
      break;
    case kFixed:
      if (in->left() != n * 8) return false;
      if (n > 0) std::memcpy(to, in->p, n * 8);
      in->p += n * 8;
      break;
    case kDictionary: {
      uint64_t entries;
      if (!in->Varint(&entries) || entries > n || (entries == 0 && n > 0)) return false;
      bits_.resize(entries);
      uint64_t* entry = bits_.data();
      if (real) {
        if (in->left() < entries * 8) return false;
        if (entries > 0) std::memcpy(entry, in->p, entries * 8);
        in->p += entries * 8;
      } else if (!in->Varints(entries, [&](uint64_t v) { *entry++ = plain(v); })) {
        return false;
      }
      if (entries > 1) {
        if (!in->Varints(n, [&](uint64_t v) { largest = std::max(largest, v), *to++ = v; }) || largest >= entries) return false;
        for (uint64_t& v : *bits) v = bits_[v];
      } else {
        std::fill_n(to, n, entries == 1 ? bits_[0] : 0);
      }
      break;
    }
    default:
      return false;
  }
  if (!in->Done()) return false;
  if (type != ArgType::kString && type != ArgType::kBytes) return true;
  return std::all_of(bits->begin(), bits->end(), [](uint64_t id) { return id <= UINT32_MAX; });
}

absl::Status ChunkDecoder::Arguments(std::string_view bytes, ArgType type, int64_t count, size_t limit, ArgColumn* out) {
  XP_TRY(bytes, Unseal(bytes, count, kChunkArguments));
  Reader blob{reinterpret_cast<const uint8_t*>(bytes.data()), reinterpret_cast<const uint8_t*>(bytes.data()) + bytes.size()};
  if (limit > size_t(EventWriter::kChunkEvents)) return Bad("argument");
  const size_t n = size_t(count);
  const size_t max_raw = std::max(n, limit) * kMaxBytesAValue + kMaxBytesBeside;
  Reader in;
  if (!Open(&blob, max_raw, true, &in) || !in.Places(n, limit, &out->index) || !in.Done()) return Bad("argument place");
  if (!Open(&blob, max_raw, true, &in) || !Values(&in, type, n, &out->bits)) return Bad("argument");
  return blob.Done() ? absl::OkStatus() : DataLoss("chunk with bytes behind its columns");
}

absl::Status ChunkDecoder::Samples(std::string_view bytes, int64_t count, int64_t min_ts_ns, std::vector<int64_t>* ts_ns,
                                   std::vector<double>* value) {
  XP_TRY(bytes, Unseal(bytes, count, EventWriter::kChunkEvents));
  Reader blob{reinterpret_cast<const uint8_t*>(bytes.data()), reinterpret_cast<const uint8_t*>(bytes.data()) + bytes.size()};
  const size_t n = size_t(count);
  const size_t max_raw = n * kMaxBytesAValue + kMaxBytesBeside;
  Reader in;
  if (!Open(&blob, max_raw, true, &in)) return Bad("time");
  ts_ns->resize(n);
  int64_t* to = ts_ns->data();
  uint64_t ts = uint64_t(min_ts_ns);
  bool wrapped = false;
  if (!in.Varints(n, [&](uint64_t delta) {
        uint64_t before = std::exchange(ts, ts + delta);
        wrapped |= int64_t(ts) < int64_t(before);
        *to++ = int64_t(ts);
      }) ||
      wrapped || !in.Done()) {
    return Bad("time");
  }
  std::vector<uint64_t> bits;
  if (!Open(&blob, max_raw, true, &in) || !Values(&in, ArgType::kDouble, n, &bits)) return Bad("value");
  value->resize(n);
  if (n > 0) std::memcpy(value->data(), bits.data(), n * 8);
  return blob.Done() ? absl::OkStatus() : DataLoss("chunk with bytes behind its columns");
}

}  // namespace xlaprof
