#include "profiler/import/perfetto/perfetto_packets.h"

#include <algorithm>

#include "profiler/import/inflate.h"

namespace xlaprof::pftrace {
namespace {

constexpr uint32_t kPacket = 1;  // Trace.packet
// Perfetto compresses packets of up to 512 KiB together. More than this is a decompression bomb.
constexpr size_t kMaxInflated = size_t(64) << 20;
// All compressed packets of a file may together grow to this many times its size.
constexpr size_t kMaxGrowth = 100;

}  // namespace

bool PacketReader::Unpack(std::string_view compressed) {
  const size_t most = kMaxInflated + kMaxGrowth * file_.size();
  const size_t room = std::min(kMaxInflated, most - std::min(most, inflated_bytes_));
  const bool is_whole = Inflate(compressed, room, &inflated_);
  inflated_bytes_ += inflated_.size();
  return is_whole;
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
    inflated_is_whole_ = Unpack(packet->compressed);
    if (!inflated_is_whole_) bad_compressed_.Add(offset_);
    inner_ = wire::Reader(inflated_);
  }
}

}  // namespace xlaprof::pftrace
