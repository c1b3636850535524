// Reads the packets of a Perfetto trace in the order of the file, including those that are
// compressed.
#pragma once

#include <string>
#include <string_view>

#include "profiler/import/perfetto/perfetto_wire.h"

namespace xlaprof::pftrace {

class PacketReader {
 public:
  explicit PacketReader(std::string_view file) : file_(file), in_(file) {}

  // Moves to the next packet, whose texts are valid until the next call. Returns false at the end of
  // the file, and where it cannot be read on.
  // A packet of which a part cannot be read is counted in bad_packets() and left out.
  bool Next(Packet* packet);

  // Returns the offset of the packet in the file; one that was compressed has the offset of the
  // bytes that it came from.
  int64_t offset() const { return offset_; }
  // These say how the file ends, once Next has returned false. `cut` is that it ends inside a
  // packet, `bad` that its bytes at offset() are not protobuf.
  bool cut() const { return in_.cut(); }
  bool bad() const { return in_.bad(); }

  // Counts of what was left out, and the offset of the first.
  struct LeftOut {
    int64_t count = 0, first_offset = 0;
    void Add(int64_t offset) {
      if (count++ == 0) first_offset = offset;
    }
  };
  const LeftOut& bad_packets() const { return bad_packets_; }
  const LeftOut& bad_compressed() const { return bad_compressed_; }

 private:
  // Decompresses packets into inflated_. Returns false if they are damaged or grow too much; the
  // part that could be decompressed is kept.
  bool Unpack(std::string_view compressed);

  std::string_view file_;
  wire::Reader in_, inner_;
  std::string inflated_;
  bool inflated_is_whole_ = true;
  size_t inflated_bytes_ = 0;  // of the whole file
  int64_t offset_ = 0;
  LeftOut bad_packets_, bad_compressed_;
};

}  // namespace xlaprof::pftrace
