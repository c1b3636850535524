// Measures what an event costs: packing, writing to a file, unpacking and scanning, and its size.
// The load imitates a training run: eight host threads of nested calls and two device tracks of
// ops, with 300 names. Durations vary around a mean per name. Every fifth event has an id and every
// fourth an argument.
#include <benchmark/benchmark.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "profiler/store/chunk.h"

namespace xlaprof {
namespace {

class Load {
 public:
  explicit Load(uint64_t seed) : random_(seed) {}

  // Adds nested calls from `ts` on, parents before children. Returns their end.
  int64_t Calls(int64_t ts, int depth, std::vector<Event>* out) {
    size_t self = out->size();
    StringId name = StringId(1 + std::min<size_t>(299, size_t(Exponential(40))));
    out->push_back({.ts_ns = ts, .dur_ns = 0, .name = name, .category = StringId(301 + name % 5)});
    if (random_() % 5 == 0) (*out)[self].flow_out = ++flow_;
    int64_t at = ts + 50 + int64_t(Exponential(200));
    for (uint64_t children = depth < 6 ? random_() % 4 : 0; children > 0; --children) {
      at = Calls(at, depth + 1, out) + 20 + int64_t(Exponential(150));
    }
    at += int64_t(double(100 * name) * (0.8 + Exponential(0.2)));
    (*out)[self].dur_ns = at - ts;
    return at;
  }

  std::vector<Event> Host(size_t count) {
    std::vector<Event> events;
    int64_t ts = 0;
    while (events.size() < count) ts = Calls(ts, 0, &events) + int64_t(Exponential(20000));
    events.resize(count);
    return events;
  }

  std::vector<Event> Device(size_t count) {
    std::vector<Event> events;
    int64_t ts = 0;
    for (size_t i = 0; i < count; ++i) {
      StringId name = StringId(1 + i % 250);  // the program of a step, repeated
      int64_t dur = int64_t(double(500 + 37 * name) * (0.97 + Exponential(0.03)));
      events.push_back({.ts_ns = ts, .dur_ns = dur, .name = name, .category = 310});
      ts += dur + int64_t(Exponential(300));
    }
    return events;
  }

 private:
  double Exponential(double mean) {
    return -mean * std::log(1 - double(random_() >> 11) * 0x1p-53);
  }
  std::mt19937_64 random_;
  uint64_t flow_ = 0;
};

EventColumns Chunk(bool device) {
  Load load(1);
  EventColumns events;
  events.Assign(device ? load.Device(EventWriter::kChunkEvents)
                       : load.Host(EventWriter::kChunkEvents));
  for (size_t i = 0; i < events.size; ++i) events.depth[i] = uint16_t(i % 7);
  return events;
}

void Encode(benchmark::State& state) {
  const EventColumns events = Chunk(state.range(0) != 0);
  ChunkEncoder encoder;
  EncodedEvents encoded;
  for (auto _ : state) {
    encoder.Events(events, &encoded);
    benchmark::DoNotOptimize(encoded.columns.data());
  }
  state.SetItemsProcessed(int64_t(state.iterations() * events.size));
  state.counters["bytes_an_event"] = double(encoded.columns.size()) / double(events.size);
}
BENCHMARK(Encode)->ArgName("device")->Arg(0)->Arg(1);

void Decode(benchmark::State& state) {
  const EventColumns events = Chunk(false);
  ChunkEncoder encoder;
  EncodedEvents encoded;
  encoder.Events(events, &encoded);
  ChunkDecoder decoder;
  EventColumns columns;
  for (auto _ : state) {
    if (!decoder
             .Events(encoded.columns, int64_t(events.size), 0, uint32_t(state.range(0)), &columns)
             .ok())
      std::abort();
  }
  state.SetItemsProcessed(int64_t(state.iterations() * events.size));
}
BENCHMARK(Decode)
    ->ArgName("columns")
    ->Arg(kStart)
    ->Arg(kDuration)
    ->Arg(kName)
    ->Arg(kDuration | kName)
    ->Arg(kStart | kDuration)
    ->Arg(kAllEventColumns);

// Writes 4 M events of ten tracks. `by_end` 0 orders them by start, 1 by end, as a recorder drains
// them. `args` 1 adds arguments.
void Write(benchmark::State& state) {
  constexpr size_t kTracks = 10, kPerTrack = 400'000;
  std::vector<std::vector<Event>> tracks;
  for (size_t t = 0; t < kTracks; ++t) {
    Load load(t);
    tracks.push_back(t < 8 ? load.Host(kPerTrack) : load.Device(kPerTrack));
    if (state.range(0) != 0) {
      std::stable_sort(tracks.back().begin(), tracks.back().end(),
                       [](auto& a, auto& b) { return a.ts_ns + a.dur_ns < b.ts_ns + b.dur_ns; });
    }
  }
  std::filesystem::path path = std::filesystem::temp_directory_path() / "chunk_bench.xlaprof";
  double bytes = 0;
  for (auto _ : state) {
    state.PauseTiming();
    std::filesystem::remove(path);
    auto store = Store::Create(path);
    state.ResumeTiming();
    {
      EventWriter writer(*store);
      bool ok = store->Begin().ok();
      for (size_t i = 0; i < kPerTrack; ++i) {
        for (size_t t = 0; t < kTracks; ++t) {
          const Event& event = tracks[t][i];
          ok &= writer.Add(int64_t(t + 1), event).ok();
          if (state.range(1) != 0 && i % 4 == 0) {
            writer.Arg(400, int64_t(i));
            writer.Arg(401, int64_t(event.name * 8));
          }
        }
      }
      ok &= writer.Flush().ok() && store->Commit().ok();
      if (!ok) std::abort();
    }
    state.PauseTiming();
    (void)store->Exec("PRAGMA wal_checkpoint(TRUNCATE)");
    bytes = double(std::filesystem::file_size(path));
    { auto gone = std::move(*store); }
    state.ResumeTiming();
  }
  std::filesystem::remove(path);
  state.SetItemsProcessed(int64_t(state.iterations() * kTracks * kPerTrack));
  state.counters["bytes_an_event"] = bytes / double(kTracks * kPerTrack);
}
BENCHMARK(Write)
    ->ArgNames({"by_end", "args"})
    ->Args({0, 0})
    ->Args({1, 0})
    ->Args({0, 1})
    ->Unit(benchmark::kMillisecond);

void Scan(benchmark::State& state) {
  auto store = Store::CreateTemporary();
  EventWriter writer(*store);
  constexpr size_t kCount = 2'000'000;
  std::vector<Event> events = Load(1).Host(kCount);
  for (const Event& event : events) (void)writer.Add(1, event);
  if (!writer.Flush().ok()) std::abort();
  for (auto _ : state) {
    auto scanner = EventScanner::Make(
        *store, {.columns = uint32_t(state.range(0)), .track_ids = {}, .from_ns = {}, .to_ns = {}});
    EventBatch batch;
    std::vector<int64_t> sum(400);
    while (*scanner->Next(&batch)) {
      for (size_t i = 0; i < batch.dur_ns.size(); ++i) sum[batch.name[i]] += batch.dur_ns[i];
    }
    benchmark::DoNotOptimize(sum.data());
  }
  state.SetItemsProcessed(int64_t(state.iterations() * kCount));
}
BENCHMARK(Scan)
    ->ArgName("columns")
    ->Arg(kDuration | kName)
    ->Arg(kAllEventColumns)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace xlaprof

BENCHMARK_MAIN();
