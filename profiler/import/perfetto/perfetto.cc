// Reads Perfetto's protobuf trace: what Perfetto's SDK and its converters write, Neuron's profiler,
// and our own export (docs/formats/perfetto_export.md).
//
// A file is a list of TracePackets. Those of one sequence (a thread of the writer) refer to texts
// and defaults that earlier packets of the sequence gave. Only track events are read: slices,
// instants and counters. The file is read twice, because clock snapshots and descriptions of tracks
// may follow the events that need them, and because the packets of a track that several sequences
// write are not in the order of time.
#include "profiler/import/importer.h"
#include "profiler/import/perfetto/perfetto_packets.h"
#include "profiler/import/perfetto/perfetto_rows.h"
#include "profiler/import/perfetto/perfetto_survey.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

using pftrace::Packet;
using pftrace::PacketReader;
using pftrace::PerfettoRows;
using pftrace::Survey;

constexpr size_t kProgressBytes = size_t(1) << 20;

// Returns whether a field of TracePacket has the type that it must have. Of other fields, which
// there are many, nothing is known.
bool IsLikePacketField(const wire::Reader& in) {
  switch (in.number()) {
    case 8:
    case 10:
    case 13:
    case 41:
    case 42:
    case 58:
      return in.type() == wire::kVarint;
    case 6:
    case 11:
    case 12:
    case 50:
    case 59:
    case 60:
      return in.type() == wire::kBytes;
    default:
      return in.number() < 2000;
  }
}

// Returns whether `bytes` is like a packet of a trace. Sets *is_sure if it has what no other
// message has at this place: a sequence or a time, and one of the packet's own parts.
bool IsLikePacket(std::string_view bytes, bool* is_sure) {
  wire::Reader in(bytes);
  bool has_origin = false, has_part = false;
  while (in.Next()) {
    if (!IsLikePacketField(in)) return false;
    has_origin |= in.number() == 8 || in.number() == 10;
    has_part |= in.number() == 6 || (in.number() >= 11 && in.number() <= 13) || in.number() >= 33;
    *is_sure |= in.number() == 50 || (has_origin && has_part);
  }
  return !in.bad();
}

int SniffPerfetto(std::string_view head) {
  constexpr int kEnough = 64;
  wire::Reader in(head);
  bool is_sure = false;
  int packets = 0;
  for (; packets < kEnough && in.Next(); ++packets) {
    if (!in.Is(1, wire::kBytes) || !IsLikePacket(in.bytes(), &is_sure)) return 0;
  }
  if (in.bad()) return 0;
  // The head may end inside a packet.
  if (packets < kEnough && in.cut() &&
      (in.number() != 1 || in.type() != wire::kBytes || !IsLikePacket(in.rest(), &is_sure)))
    return 0;
  return is_sure ? 97 : 0;
}

// Aligns the trace's clock. Returns the offset from its times to the store's.
absl::StatusOr<int64_t> ShiftOf(const Survey& survey, ImportContext& context) {
  const std::optional<int64_t> base_ns = survey.clocks().EpochNs();
  int64_t epoch_ns = 0;
  if (!base_ns || !survey.first_ns() ||
      __builtin_add_overflow(*base_ns, *survey.first_ns(), &epoch_ns) || epoch_ns < 0)
    return 0;
  // The store's time 0 is the start of a millisecond, near the first event.
  constexpr int64_t kRoundNs = 1'000'000;
  epoch_ns -= epoch_ns % kRoundNs;
  XP_TRY(int64_t offset_ns, context.AlignClock(epoch_ns));
  return offset_ns - (epoch_ns - *base_ns);
}

void CountEnd(const Input& input, const PacketReader& packets, OddInput& odd) {
  const auto size = int64_t(input.bytes.size());
  if (packets.cut()) {
    odd.Count(
        issue_codes::kCutFile, Severity::kWarning,
        fmt::format(
            "The file ends at byte {}, inside a packet. Everything before that was read. Copy or record it again.",
            size),
        size);
  }
  if (packets.bad()) {
    odd.Count(
        "damaged_file", Severity::kWarning,
        fmt::format(
            "The file is not a protobuf message from byte {} on. Everything before that was read. Copy it again.",
            packets.offset()),
        packets.offset());
  }
  if (const auto& bad = packets.bad_packets(); bad.count > 0) {
    odd.Count("damaged_packet", Severity::kWarning,
              "Packets that are not valid protobuf were left out. Copy or record the trace again.",
              bad.first_offset, bad.count);
  }
  if (const auto& bad = packets.bad_compressed(); bad.count > 0) {
    odd.Count(
        issue_codes::kDamagedCoding, Severity::kWarning,
        "Compressed packets are damaged, or grow more than any trace does. What could be decompressed was read.",
        bad.first_offset, bad.count);
  }
}

absl::Status ReadPerfetto(const Input& input, ImportContext& context) {
  Survey survey(input.bytes, context.source_id);
  XP_TRY(const int64_t shift_ns, ShiftOf(survey, context));
  OddInput odd;
  PerfettoRows rows(context, survey, shift_ns, odd);
  PacketReader packets(input.bytes);
  Packet packet;
  bool any = false;
  for (int64_t next_progress = 0; packets.Next(&packet);) {
    any = true;
    XP_TRY(rows.Take(packet, packets.offset()));
    if (packets.offset() < next_progress) continue;
    context.progress(size_t(packets.offset()));
    next_progress = packets.offset() + int64_t(kProgressBytes);
  }
  if (!any) {
    return Invalid(
        "{}: not a Perfetto trace (no packet can be read; byte {}). Try --as with another format",
        input.path, packets.offset());
  }
  CountEnd(input, packets, odd);
  XP_TRY(rows.Finish());
  return odd.Write(context);
}

}  // namespace

// The importer has the name of the exporter that writes such files.
extern const Importer perfetto{
    .name = "perfetto",
    .summary = "Perfetto's protobuf trace: its SDK, Neuron, converted Nsight profiles, xlaprof",
    .example = "trace.pftrace",
    .sniff = SniffPerfetto,
    .read = ReadPerfetto,
    .maps_large_files = true,
    .kind = SourceKind::kTimed,
    .keeps = 2};

}  // namespace xlaprof
