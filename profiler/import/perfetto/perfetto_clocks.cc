#include "profiler/import/perfetto/perfetto_clocks.h"

#include <algorithm>

namespace xlaprof::pftrace {
namespace {

// A clock that is further from the trace's clock than this is not related to it. Real traces need
// two links.
constexpr int kMaxLinks = 8;

}  // namespace

std::optional<int64_t> ClockReadings::InUnits(ClockKey key, uint64_t timestamp) {
  const auto found = units_.find(key);
  if (found == units_.end())
    return timestamp <= kMax ? std::optional<int64_t>(int64_t(timestamp)) : std::nullopt;
  Units& units = found->second;
  uint64_t ns = 0;
  if (__builtin_mul_overflow(timestamp, units.multiplier_ns, &ns) ||
      __builtin_add_overflow(ns, units.last_ns, &ns) || ns > kMax)
    return std::nullopt;
  if (units.incremental) units.last_ns = ns;
  return int64_t(ns);
}

void Clocks::Relate(ClockKey trace_clock) {
  trace_clock_ = trace_clock;
  links_.clear();
  // Goes outwards from the trace's clock: each clock is linked to the one by which it was reached.
  absl::flat_hash_map<ClockKey, std::vector<uint32_t>> snapshots_of;
  for (uint32_t i = 0; i < snapshots_.size(); ++i) {
    for (const auto& [key, ns] : snapshots_[i]) snapshots_of[key].push_back(i);
  }
  std::vector<bool> done(snapshots_.size());
  std::vector<std::pair<ClockKey, int>> reached = {{trace_clock, 0}};
  for (size_t at = 0; at < reached.size(); ++at) {
    const auto [nearer, links] = reached[at];
    if (links == kMaxLinks) break;
    for (const uint32_t i : snapshots_of[nearer]) {
      if (done[i]) continue;
      done[i] = true;
      for (const auto& [key, ns] : snapshots_[i]) {
        if (key == trace_clock) continue;
        if (links_.try_emplace(key, Link{nearer, {}}).second) reached.emplace_back(key, links + 1);
      }
    }
  }
  for (auto& snapshot : snapshots_) {
    std::stable_sort(snapshot.begin(), snapshot.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [key, ns] : snapshot) {
      const auto link = links_.find(key);
      if (link == links_.end()) continue;
      const auto other = std::lower_bound(
          snapshot.begin(), snapshot.end(), link->second.towards,
          [](const auto& reading, ClockKey wanted) { return reading.first < wanted; });
      if (other != snapshot.end() && other->first == link->second.towards)
        link->second.readings.emplace_back(ns, other->second);
    }
  }
  for (auto& [key, link] : links_) {
    std::stable_sort(link.readings.begin(), link.readings.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  }
}

std::optional<int64_t> Clocks::ToTrace(ClockKey key, int64_t ns) const {
  // Each link leads nearer to the trace's clock.
  while (!IsTraces(key)) {
    const auto link = links_.find(key);
    if (link == links_.end() || link->second.readings.empty()) return std::nullopt;
    const auto& readings = link->second.readings;
    auto after = std::upper_bound(readings.begin(), readings.end(), ns,
                                  [](int64_t wanted, const auto& r) { return wanted < r.first; });
    if (after != readings.begin()) --after;
    int64_t since = 0;
    if (__builtin_sub_overflow(ns, after->first, &since) ||
        __builtin_add_overflow(after->second, since, &ns))
      return std::nullopt;
    key = link->second.towards;
  }
  return ns;
}

std::optional<int64_t> Clocks::EpochNs() const {
  if (trace_clock_ == kRealtime) return 0;
  for (const auto& snapshot : snapshots_) {
    for (const auto& [key, unix_ns] : snapshot) {
      if (key != kRealtime) continue;
      const std::optional<int64_t> ns = ToTrace(key, unix_ns);
      int64_t epoch_ns = 0;
      if (ns && !__builtin_sub_overflow(unix_ns, *ns, &epoch_ns) && epoch_ns >= 0) return epoch_ns;
    }
  }
  return std::nullopt;
}

}  // namespace xlaprof::pftrace
