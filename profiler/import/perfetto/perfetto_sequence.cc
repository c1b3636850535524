#include "profiler/import/perfetto/perfetto_sequence.h"

namespace xlaprof::pftrace {

std::optional<Moment> MomentOf(const Packet& packet, const TrackEvent* event, Sequence& sequence,
                               ClockReadings& readings) {
  uint32_t clock = kMonotonic;
  uint64_t timestamp = 0;
  if (packet.has_timestamp) {
    clock = packet.clock != 0 ? packet.clock : sequence.defaults.clock;
    timestamp = packet.timestamp;
  } else {
    // Older writers give microseconds of the monotonic clock, or how many have passed.
    if (event == nullptr) return std::nullopt;
    int64_t us = event->absolute_us;
    if (event->has_delta) {
      if (!sequence.has_thread ||
          __builtin_add_overflow(sequence.reference_us, event->delta_us, &sequence.reference_us))
        return std::nullopt;
      us = sequence.reference_us;
    } else if (!event->has_absolute) {
      return std::nullopt;
    }
    if (us < 0 || us > INT64_MAX / 1000) return std::nullopt;
    timestamp = uint64_t(us) * 1000;
  }
  const ClockKey key = KeyOf(clock, packet.sequence);
  const std::optional<int64_t> ns = readings.Of(key, timestamp);
  return ns ? std::optional<Moment>({key, *ns}) : std::nullopt;
}

}  // namespace xlaprof::pftrace
