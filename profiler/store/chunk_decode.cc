#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "profiler/store/chunk.h"
#include "profiler/store/chunk_internal.h"
#include "profiler/store/varint_block.h"

namespace xlaprof {

struct ChunkDecoder::Reader {
  const uint8_t* p = nullptr;
  const uint8_t* end = nullptr;

  static Reader Of(std::string_view bytes) {
    const auto* begin = reinterpret_cast<const uint8_t*>(bytes.data());
    return {begin, begin + bytes.size()};
  }
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

  // Calls emit(value) n times.
  template <class Emit>
  bool Varints(size_t n, Emit&& emit) {
    uint64_t block[kVarintBlock];
    for (; n >= kVarintBlock; n -= kVarintBlock) {
      const uint8_t* behind = DecodeVarintBlock(p, end, block);
      if (behind == nullptr) break;
      for (uint64_t v : block) emit(v);
      p = behind;
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

  // Reads `n` times as deltas from `min_ts_ns`. Returns false if one wraps around or if bytes
  // follow them.
  bool Times(size_t n, int64_t min_ts_ns, int64_t* to) {
    uint64_t ts = uint64_t(min_ts_ns);
    bool wrapped = false;
    return Varints(n,
                   [&](uint64_t delta) {
                     uint64_t before = std::exchange(ts, ts + delta);
                     wrapped |= int64_t(ts) < int64_t(before);
                     *to++ = int64_t(ts);
                   }) &&
           !wrapped && Done();
  }
};

ChunkDecoder::ChunkDecoder() = default;
ChunkDecoder::~ChunkDecoder() { ZSTD_freeDCtx(zstd_); }

// Takes the next section off `blob` and, if it is wanted, sets `section` to its raw bytes. They are
// valid until the next Open. Returns false if the section is damaged.
bool ChunkDecoder::Open(Reader* blob, size_t max_raw, bool wanted, Reader* section) {
  if (blob->p == blob->end) return false;
  uint8_t codec = *blob->p++;
  uint64_t raw, stored;
  if (!blob->Varint(&raw) || !blob->Varint(&stored) || stored > blob->left() || raw > max_raw)
    return false;
  const uint8_t* bytes = blob->p;
  blob->p += stored;
  if (!wanted) return true;
  if (codec == kRaw) {
    *section = {bytes, bytes + stored};
    return raw == stored;
  }
  if (codec != kZstd) return false;
  if (raw_.size() < raw) raw_.resize(raw);
  if (zstd_ == nullptr) {
    zstd_ = ZSTD_createDCtx();
    XP_CHECK(zstd_ != nullptr);
  }
  if (ZSTD_decompressDCtx(zstd_, raw_.data(), raw, bytes, stored) != raw) return false;
  *section = {raw_.data(), raw_.data() + raw};
  return true;
}

namespace {

// Checks the version, the count and the checksum, and returns the bytes that follow them.
absl::StatusOr<std::string_view> Unseal(std::string_view blob, int64_t count, int64_t max_count) {
  if (blob.size() < kHeaderBytes) return DataLoss("a chunk of {} bytes is too short", blob.size());
  if (uint8_t(blob[0]) != kFormatVersion) {
    return DataLoss("a chunk has format {}, but this xlaprof knows {}", int(uint8_t(blob[0])),
                    int(kFormatVersion));
  }
  if (count < 0 || count > max_count)
    return DataLoss("a chunk has {} values, but the limit is {}", count, max_count);
  uint32_t sum;
  std::memcpy(&sum, blob.data() + 1, 4);
  blob.remove_prefix(kHeaderBytes);
  if (sum !=
      Checksum(reinterpret_cast<const uint8_t*>(blob.data()), blob.size(), uint64_t(count))) {
    return DataLoss(
        "a chunk has a wrong checksum, because its bytes were altered. `xlaprof report` reads the intact ones");
  }
  return blob;
}

absl::Status Bad(const char* column) {
  return DataLoss("a chunk has an invalid {} column", column);
}

}  // namespace

bool ChunkIsSound(std::string_view blob, int64_t count) {
  return Unseal(blob, count, kChunkArguments).ok();
}

absl::Status ChunkDecoder::Events(std::string_view bytes, int64_t count, int64_t min_ts_ns,
                                  uint32_t columns, EventColumns* out) {
  XP_TRY(bytes, Unseal(bytes, count, EventWriter::kChunkEvents));
  Reader blob = Reader::Of(bytes);
  const size_t n = size_t(count);
  const size_t max_raw = n * kMaxBytesAValue + kMaxBytesBeside;
  out->size = n;
  Reader in;

  bool wanted = columns & kStart;
  if (!Open(&blob, max_raw, wanted, &in)) return Bad("start");
  if (wanted) {
    out->ts_ns.resize(n);
    if (!in.Times(n, min_ts_ns, out->ts_ns.data())) return Bad("start");
  }

  wanted = columns & kDuration;
  if (!Open(&blob, max_raw, wanted, &in)) return Bad("duration");
  if (wanted) {
    out->dur_ns.resize(n);
    int64_t* to = out->dur_ns.data();
    if (!in.Varints(n, [&](uint64_t v) { *to++ = int64_t(v - 1); }) || !in.Done())
      return Bad("duration");
  }

  wanted = columns & (kName | kCategory | kNameIndex);
  if (!Open(&blob, max_raw, wanted, &in)) return Bad("name");
  if (wanted) {
    uint64_t names = 0, all = 0, largest = 0;
    if (!in.Varint(&names) || names > n || (names == 0 && n > 0)) return Bad("name");
    out->names.resize(names);
    StringId* id = out->names.data();
    if (!in.Varints(names, [&](uint64_t v) { all |= v, *id++ = StringId(v); }) || all > UINT32_MAX)
      return Bad("name");
    out->name_index.resize(n);
    if (names > 1) {
      uint16_t* to = out->name_index.data();
      if (!in.Varints(n,
                      [&](uint64_t v) { largest = std::max(largest, v), *to++ = uint16_t(v); }) ||
          largest >= names) {
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
    } else if (!in.Varints(n, [&](uint64_t v) { all |= v, *to++ = uint16_t(v); }) ||
               all > UINT16_MAX || !in.Done()) {
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
      if (!in.Varints(out->names.size(), [&](uint64_t v) { all |= v, *to++ = StringId(v); }))
        return Bad("category");
      for (size_t i = 0; i < n; ++i) out->category[i] = index_[out->name_index[i]];
    } else if (mode == kCategoryByEvent) {
      if (!in.Varint(&entries) || entries > n) return Bad("category");
      index_.resize(entries);
      uint32_t* to = index_.data();
      if (!in.Varints(entries, [&](uint64_t v) { all |= v, *to++ = StringId(v); }))
        return Bad("category");
      to = out->category.data();
      if (!in.Varints(n,
                      [&](uint64_t v) {
                        largest = std::max(largest, v), *to++ = uint32_t(std::min<uint64_t>(v, n));
                      }) ||
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
    if (!in.Varints(places, [&](uint64_t v) { to[*at++] = value += uint64_t(UnZigZag(v)); }) ||
        !in.Done()) {
      return Bad("flow");
    }
  }
  return blob.Done() ? absl::OkStatus() : DataLoss("a chunk has bytes after its columns");
}

bool ChunkDecoder::HasCategory(std::string_view bytes, int64_t count,
                               std::span<const StringId> categories) {
  absl::StatusOr<std::string_view> sound = Unseal(bytes, count, EventWriter::kChunkEvents);
  if (!sound.ok()) return true;
  Reader blob = Reader::Of(*sound);
  const size_t max_raw = size_t(count) * kMaxBytesAValue + kMaxBytesBeside;
  Reader in;
  for (bool wanted : {false, false, false, false, true}) {  // the fifth section is the category
    if (!Open(&blob, max_raw, wanted, &in)) return true;
  }
  auto asked = [&](uint64_t id) {
    return std::find(categories.begin(), categories.end(), id) != categories.end();
  };
  if (in.Done()) return asked(0);
  const uint8_t mode = *in.p++;
  // The section holds one id, or ids up to its end (one per name), or a count and that many ids.
  uint64_t ids = mode == kOneCategory ? 1 : UINT64_MAX, id = 0;
  if (mode == kCategoryByEvent && !in.Varint(&ids)) return true;
  for (; ids > 0 && !in.Done(); --ids) {
    if (!in.Varint(&id) || asked(id)) return true;
  }
  return false;
}

bool ChunkDecoder::HasFlow(std::string_view bytes, int64_t count) {
  absl::StatusOr<std::string_view> sound = Unseal(bytes, count, EventWriter::kChunkEvents);
  if (!sound.ok()) return true;
  Reader blob = Reader::Of(*sound);
  const size_t max_raw = size_t(count) * kMaxBytesAValue + kMaxBytesBeside;
  Reader in;
  for (bool is_flow : {false, false, false, false, false, true, true}) {
    if (!Open(&blob, max_raw, is_flow, &in) || (is_flow && !in.Done())) return true;
  }
  return false;
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
      if (real || !in->Varints(n, [&](uint64_t v) { *to++ = last += uint64_t(UnZigZag(v)); }))
        return false;
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
        if (!in->Varints(n, [&](uint64_t v) { largest = std::max(largest, v), *to++ = v; }) ||
            largest >= entries)
          return false;
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

absl::Status ChunkDecoder::Arguments(std::string_view bytes, ArgType type, int64_t count,
                                     size_t limit, ArgColumn* out) {
  XP_TRY(bytes, Unseal(bytes, count, kChunkArguments));
  Reader blob = Reader::Of(bytes);
  if (limit > size_t(EventWriter::kChunkEvents)) return Bad("argument");
  const size_t n = size_t(count);
  const size_t max_raw = std::max(n, limit) * kMaxBytesAValue + kMaxBytesBeside;
  Reader in;
  if (!Open(&blob, max_raw, true, &in) || !in.Places(n, limit, &out->index) || !in.Done())
    return Bad("argument place");
  if (!Open(&blob, max_raw, true, &in) || !Values(&in, type, n, &out->bits)) return Bad("argument");
  return blob.Done() ? absl::OkStatus() : DataLoss("a chunk has bytes after its columns");
}

absl::Status ChunkDecoder::Samples(std::string_view bytes, int64_t count, int64_t min_ts_ns,
                                   std::vector<int64_t>* ts_ns, std::vector<double>* value) {
  XP_TRY(bytes, Unseal(bytes, count, EventWriter::kChunkEvents));
  Reader blob = Reader::Of(bytes);
  const size_t n = size_t(count);
  const size_t max_raw = n * kMaxBytesAValue + kMaxBytesBeside;
  Reader in;
  if (!Open(&blob, max_raw, true, &in)) return Bad("time");
  ts_ns->resize(n);
  if (!in.Times(n, min_ts_ns, ts_ns->data())) return Bad("time");
  std::vector<uint64_t> bits;
  if (!Open(&blob, max_raw, true, &in) || !Values(&in, ArgType::kDouble, n, &bits))
    return Bad("value");
  value->resize(n);
  if (n > 0) std::memcpy(value->data(), bits.data(), n * 8);
  return blob.Done() ? absl::OkStatus() : DataLoss("a chunk has bytes after its columns");
}

}  // namespace xlaprof
