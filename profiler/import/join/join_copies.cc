// One session of a profiler may be written to two files: torch.profiler writes the events of TorchTPU
// to an XSpace, and the same events to its own JSON. Their processes are one, and each event counts
// once. The XSpace of TorchTPU's configuration calls the host NAME_RANK.
#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "profiler/import/join/join.h"

namespace xlaprof {
namespace {

// Both files have the times of one clock, but a JSON rounds them to microseconds.
constexpr int64_t kSameTimeNs = 10'000;

// Holds what a source with a clock shows of one process.
struct Recorded {
  int64_t process_id = 0, source_id = 0;
  std::string path, host;
  int64_t pid = 0;
  OptInt rank;
  std::vector<std::pair<int64_t, int64_t>> spans;  // start and length of compiles and executions
  int64_t events = 0;
};

// Returns whether `name` is `host`, or `host` with a rank, such as vm_0 for vm.
bool IsHostWithRank(std::string_view name, std::string_view host) {
  if (!name.starts_with(host)) return false;
  name.remove_prefix(host.size());
  return name.empty() || (name.size() > 1 && name.front() == '_' &&
                          name.find_first_not_of("0123456789", 1) == name.npos);
}

bool MayBeOneProcess(const Recorded& a, const Recorded& b) {
  return a.pid == b.pid && a.source_id != b.source_id && (!a.rank || !b.rank || a.rank == b.rank) &&
         (IsHostWithRank(a.host, b.host) || IsHostWithRank(b.host, a.host));
}

// Returns whether nearly all that `some` shows is in `all`, at the same times.
bool IsCopyOf(const Recorded& some, const Recorded& all) {
  constexpr double kNearlyAll = 0.9;
  const auto differ = [](int64_t x, int64_t y) { return std::abs(x - y) > kSameTimeNs; };
  size_t same = 0, next = 0;
  for (const auto& [start_ns, length_ns] : some.spans) {
    while (next < all.spans.size() && all.spans[next].first + kSameTimeNs < start_ns) ++next;
    if (next == all.spans.size()) break;
    if (differ(all.spans[next].first, start_ns) || differ(all.spans[next].second, length_ns))
      continue;
    ++same, ++next;
  }
  return same > 0 && double(same) >= kNearlyAll * double(some.spans.size());
}

absl::StatusOr<std::vector<Recorded>> ReadRecorded(const Store& store) {
  std::vector<Recorded> all;
  XP_TRY(store.Each(
      "SELECT p.id, p.source_id, s.path, p.host, p.pid, p.rank FROM process "
      "p JOIN source s ON s.id = p.source_id JOIN run r ON r.id = p.run_id WHERE r.selected AND "
      "s.kind = 'timed' AND p.host IS NOT NULL AND p.pid IS NOT NULL AND p.id NOT IN (SELECT process_id FROM recording) "
      "ORDER BY p.id",
      [&](int64_t process, int64_t source, std::string path, std::string host, int64_t pid,
          OptInt rank) {
        all.push_back({.process_id = process,
                       .source_id = source,
                       .path = std::move(path),
                       .host = std::move(host),
                       .pid = pid,
                       .rank = rank});
      }));
  return all;
}

absl::Status ReadFacts(const Store& store, Recorded& recorded) {
  XP_TRY(store.Each(
      "SELECT ts_ns, coalesce(dur_ns, 0) AS dur_ns FROM compile WHERE process_id = ?1 AND ts_ns IS "
      "NOT NULL UNION ALL SELECT coalesce(enqueue_ts_ns, ts_ns) AS ts_ns, 0 FROM execution WHERE "
      "process_id = ?1 AND coalesce(enqueue_ts_ns, ts_ns) IS NOT NULL ORDER BY 1, 2",
      [&](int64_t ts_ns, int64_t dur_ns) { recorded.spans.emplace_back(ts_ns, dur_ns); },
      recorded.process_id));
  XP_TRY(
      const OptInt events,
      store.One<int64_t>("SELECT CAST(total(c.count) AS INTEGER) FROM event_chunk c JOIN track t "
                         "ON t.id = c.track_id WHERE t.process_id = ?1",
                         recorded.process_id));
  recorded.events = events.value_or(0);
  return absl::OkStatus();
}

}  // namespace

absl::Status DropCopies(Store& store) {
  XP_TRY(std::vector<Recorded> all, ReadRecorded(store));
  const auto order = [](const Recorded& one) { return std::tuple(one.pid, one.process_id); };
  std::ranges::sort(all, {}, order);
  std::set<int64_t> dropped;
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && all[end].pid == all[begin].pid) ++end;
    constexpr size_t kMostFiles = 64;  // of one process
    if (end - begin < 2 || end - begin > kMostFiles) continue;
    for (size_t i = begin; i < end; ++i) XP_TRY(ReadFacts(store, all[i]));
    // The source that shows most comes first.
    std::stable_sort(all.begin() + std::ptrdiff_t(begin), all.begin() + std::ptrdiff_t(end),
                     [](const Recorded& a, const Recorded& b) {
                       return std::pair(a.spans.size(), a.events) >
                              std::pair(b.spans.size(), b.events);
                     });
    for (size_t i = begin; i < end; ++i) {
      for (size_t j = i + 1; j < end; ++j) {
        const Recorded &kept = all[i], &copy = all[j];
        if (dropped.contains(kept.process_id) || dropped.contains(copy.process_id) ||
            !MayBeOneProcess(kept, copy) || !IsCopyOf(copy, kept))
          continue;
        dropped.insert(copy.process_id);
        XP_TRY(store.Run("UPDATE source SET note = ?2 WHERE id = ?1", copy.source_id,
                         fmt::format("shows the same events as {}, so they count once",
                                     kept.path.substr(kept.path.rfind('/') + 1))));
        if (IsHostWithRank(kept.host, copy.host))
          XP_TRY(
              store.Run("UPDATE process SET host = ?2 WHERE id = ?1", kept.process_id, copy.host));
      }
    }
  }
  if (dropped.empty()) return absl::OkStatus();
  const std::string which = fmt::format("({})", fmt::join(dropped, ", "));
  XP_TRY(DropProcesses(store, which));
  const std::string tracks = fmt::format("(SELECT id FROM track WHERE process_id IN {})", which);
  return store.Exec(fmt::format(
      "DELETE FROM arg_chunk WHERE event_chunk_id IN (SELECT id FROM event_chunk WHERE track_id IN "
      "{0}); DELETE FROM event_chunk WHERE track_id IN {0}; DELETE FROM counter_chunk WHERE track_id "
      "IN {0}; DELETE FROM provenance WHERE table_name = 'track' AND row_id IN {0}; DELETE FROM "
      "track WHERE process_id IN {1}",
      tracks, which));
}

}  // namespace xlaprof
