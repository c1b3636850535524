// store_queries STORE ROUNDS runs three queries over all events of a store through EventScanner,
// each of them ROUNDS times. It prints one JSON object with the seconds of each round and the
// answers. store_queries STORE --dump DIR writes the columns that the queries read, as arrays, for
// another engine.
//
//   group_by_name  how often each name occurs, and its total time
//   gaps           idle time of more than 10 us between two ops of the device
//   overlap        the calls of the host's threads during these gaps, by name
#include <absl/container/flat_hash_map.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <iostream>

#include "profiler/store/events.h"

namespace xlaprof {
namespace {

constexpr int64_t kMinGapNs = 10'000;

struct Gap {
  int64_t begin_ns, end_ns;
};
struct Tracks {
  std::vector<int64_t> device, host;
};
struct Sum {
  int64_t count = 0, ns = 0;
};

absl::StatusOr<Tracks> FindTracks(const Store& store) {
  Tracks tracks;
  XP_TRY(
      store.Each("SELECT id, kind, name FROM track WHERE kind IN ('host_thread', 'device_stream')",
                 [&](int64_t id, std::string_view kind, std::string_view name) {
                   if (kind == "host_thread") tracks.host.push_back(id);
                   if (name == "XLA Ops") tracks.device.push_back(id);
                 }));
  if (tracks.device.empty() || tracks.host.empty()) return NotFound("no device ops, or no host");
  return tracks;
}

template <class Fn>
absl::Status EachBatch(const Store& store, EventScanner::Options options, Fn&& fn) {
  XP_TRY(EventScanner scanner, EventScanner::Make(store, std::move(options)));
  EventBatch batch;
  while (true) {
    XP_TRY(bool more, scanner.Next(&batch));
    if (!more) return absl::OkStatus();
    fn(batch);
  }
}

// Sums by name. Interned ids are small and dense.
class ByName {
 public:
  void Add(StringId name, int64_t ns) {
    if (name >= sums_.size()) sums_.resize(size_t(name) * 2 + 64);
    ++sums_[name].count;
    sums_[name].ns += ns;
  }
  std::string Text() const {
    int64_t names = 0, count = 0, ns = 0;
    for (const Sum& sum : sums_) names += sum.count > 0, count += sum.count, ns += sum.ns;
    return fmt::format("{} names, {} times, {} ns", names, count, ns);
  }

 private:
  std::vector<Sum> sums_;
};

absl::StatusOr<std::string> GroupByName(const Store& store) {
  ByName sums;
  XP_TRY(EachBatch(store, {.columns = kDuration | kName}, [&](const EventBatch& batch) {
    for (size_t i = 0; i < batch.size; ++i) sums.Add(batch.name[i], batch.dur_ns[i]);
  }));
  return sums.Text();
}

absl::StatusOr<std::vector<Gap>> FindGaps(const Store& store, const Tracks& tracks) {
  std::vector<Gap> gaps;
  int64_t track = 0, last_end_ns = 0;
  XP_TRY(EachBatch(store, {.columns = kStart | kDuration, .track_ids = tracks.device},
                   [&](const EventBatch& batch) {
                     if (batch.track_id != track) track = batch.track_id, last_end_ns = INT64_MAX;
                     for (size_t i = 0; i < batch.size; ++i) {
                       if (last_end_ns < batch.ts_ns[i] - kMinGapNs)
                         gaps.push_back({last_end_ns, batch.ts_ns[i]});
                       last_end_ns = batch.ts_ns[i] + batch.dur_ns[i];
                     }
                   }));
  return gaps;
}

absl::StatusOr<std::string> Gaps(const Store& store, const Tracks& tracks) {
  XP_TRY(auto gaps, FindGaps(store, tracks));
  int64_t ns = 0;
  for (const Gap& gap : gaps) ns += gap.end_ns - gap.begin_ns;
  return fmt::format("{} gaps, {} ns", gaps.size(), ns);
}

absl::StatusOr<std::string> Overlap(const Store& store, const Tracks& tracks) {
  XP_TRY(auto gaps, FindGaps(store, tracks));  // for one device: sorted and disjoint
  gaps.push_back({INT64_MAX, INT64_MAX});
  ByName sums;
  XP_TRY(EachBatch(store, {.columns = kStart | kDuration | kName, .track_ids = tracks.host},
                   [&](const EventBatch& batch) {
                     size_t first = 0;  // first gap after the event's start
                     for (size_t i = 0; i < batch.size; ++i) {
                       const int64_t begin_ns = batch.ts_ns[i];
                       const int64_t end_ns = begin_ns + batch.dur_ns[i];
                       while (gaps[first].end_ns <= begin_ns) ++first;
                       for (size_t k = first; gaps[k].begin_ns < end_ns; ++k) {
                         sums.Add(batch.name[i], std::min(end_ns, gaps[k].end_ns) -
                                                     std::max(begin_ns, gaps[k].begin_ns));
                       }
                     }
                   }));
  return sums.Text();
}

absl::Status Dump(const Store& store, const Tracks& tracks, const std::string& dir) {
  // 0 means other, 1 the device's ops, and 2 a host thread.
  absl::flat_hash_map<int64_t, int64_t> kinds;
  for (int64_t id : tracks.device) kinds[id] = 1;
  for (int64_t id : tracks.host) kinds[id] = 2;
  std::ofstream track(dir + "/track.i64"), kind(dir + "/kind.i64"), ts(dir + "/ts.i64"),
      dur(dir + "/dur.i64"), name(dir + "/name.i64");
  auto put = [](std::ofstream& out, const std::vector<int64_t>& values) {
    out.write(reinterpret_cast<const char*>(values.data()), std::streamsize(values.size() * 8));
  };
  XP_TRY(EachBatch(store, {.columns = kStart | kDuration | kName}, [&](const EventBatch& batch) {
    put(track, std::vector<int64_t>(batch.size, batch.track_id));
    put(kind, std::vector<int64_t>(batch.size, kinds[batch.track_id]));
    put(ts, {batch.ts_ns.begin(), batch.ts_ns.end()});
    put(dur, {batch.dur_ns.begin(), batch.dur_ns.end()});
    put(name, {batch.name.begin(), batch.name.end()});
  }));
  for (auto* out : {&track, &kind, &ts, &dur, &name})
    if (!out->flush()) return IoError("{}: cannot write", dir);
  return absl::OkStatus();
}

template <class Query>
absl::StatusOr<std::string> Timed(int rounds, Query&& query) {
  std::vector<double> wall_s, cpu_s;
  std::string answer;
  for (int i = 0; i < rounds; ++i) {
    const auto wall = std::chrono::steady_clock::now();
    const auto cpu = std::clock();
    XP_TRY(answer, query());
    wall_s.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count());
    cpu_s.push_back(double(std::clock() - cpu) / CLOCKS_PER_SEC);
  }
  return fmt::format("{{\"wall_s\": [{:.6f}], \"cpu_s\": [{:.6f}], \"answer\": \"{}\"}}",
                     fmt::join(wall_s, ", "), fmt::join(cpu_s, ", "), answer);
}

absl::Status Main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return Invalid("store_queries STORE ROUNDS | STORE --dump DIR");
  XP_TRY(Store store, Store::Open(argv[1]));
  XP_TRY(Tracks tracks, FindTracks(store));
  if (argc == 4) return Dump(store, tracks, argv[3]);
  const int rounds = std::atoi(argv[2]);
  XP_TRY(auto by_name, Timed(rounds, [&] { return GroupByName(store); }));
  XP_TRY(auto gaps, Timed(rounds, [&] { return Gaps(store, tracks); }));
  XP_TRY(auto overlap, Timed(rounds, [&] { return Overlap(store, tracks); }));
  std::cout << fmt::format("{{\"group_by_name\": {}, \"gaps\": {}, \"overlap\": {}}}\n", by_name,
                           gaps, overlap);
  return absl::OkStatus();
}

}  // namespace
}  // namespace xlaprof

int main(int argc, char** argv) {
  absl::Status status = xlaprof::Main(argc, argv);
  if (!status.ok()) std::cerr << status.message() << "\n";
  return status.ok() ? 0 : 2;
}
