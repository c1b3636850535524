#include "profiler/import/perfetto/perfetto_packets.h"

#include <zlib.h>

#include <algorithm>

namespace xlaprof::pftrace {
namespace {

constexpr uint32_t kPacket = 1;  // Trace.packet
// Perfetto compresses packets of up to 512 KiB together. More than this is a decompression bomb.
constexpr size_t kMaxInflated = size_t(64) << 20;
// All compressed packets of a file may together grow to this many times its size.
constexpr size_t kMaxGrowth = 100;

}  // namespace

bool PacketReader::Inflate(std::string_view compressed) {
  inflated_.clear();
  z_stream stream = {};
  if (inflateInit2(&stream, 15 + 32) != Z_OK) return false;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = uInt(std::min<size_t>(compressed.size(), UINT32_MAX));
  const size_t most = kMaxInflated + kMaxGrowth * file_.size();
  const size_t room = std::min(kMaxInflated, most - std::min(most, inflated_bytes_));
  int result = Z_OK;
  size_t size = 0;
  while (result == Z_OK && size < room) {
    inflated_.resize(std::min(room, std::max(4 * compressed.size(), 2 * size)));
    stream.next_out = reinterpret_cast<Bytef*>(inflated_.data() + size);
    stream.avail_out = uInt(inflated_.size() - size);
    result = inflate(&stream, Z_NO_FLUSH);
    size = std::min<size_t>(stream.total_out, inflated_.size());
    if (result == Z_OK && stream.avail_in == 0 && stream.avail_out > 0) break;  // it is cut
  }
  inflated_.resize(size);
  inflateEnd(&stream);
  inflated_bytes_ += inflated_.size();
  return result == Z_STREAM_END;
}

bool PacketReader::Next(Packet* packet) {
  while (true) {
    if (!inflated_.empty()) {
      while (inner_.Next()) {
        if (!inner_.Is(kPacket, wire::kBytes)) continue;
        // Packets are compressed once.
        if (Decode(inner_.bytes(), packet) && packet->compressed.empty()) return true;
        bad_packets_.Add(offset_);
      }
      if (inflated_is_whole_ && (inner_.bad() || inner_.cut())) bad_compressed_.Add(offset_);
      inflated_.clear();
    }
    if (!in_.Next()) {
      offset_ = in_.position() - file_.data();
      return false;
    }
    if (!in_.Is(kPacket, wire::kBytes)) continue;
    offset_ = in_.position() - file_.data();
    if (!Decode(in_.bytes(), packet)) {
      bad_packets_.Add(offset_);
      continue;
    }
    if (packet->compressed.empty()) return true;
    inflated_is_whole_ = Inflate(packet->compressed);
    if (!inflated_is_whole_) bad_compressed_.Add(offset_);
    inner_ = wire::Reader(inflated_);
  }
}

}  // namespace xlaprof::pftrace
