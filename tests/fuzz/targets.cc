#include "tests/fuzz/targets.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "analyzers/report/report.h"
#include "profiler/import/import.h"
#include "profiler/store/chunk.h"
#include "profiler/store/chunk_internal.h"
#include "profiler/store/damaged_store.h"
#include "profiler/store/sql_script.h"
#include "tests/fuzz/ring_target.h"
#include "tests/hostile/check.h"
#include "tests/hostile/damage.h"
#include "tests/hostile/damage_proto.h"
#include "tests/hostile/golden_inputs.h"
#include "tests/read_file.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

constexpr size_t kSeedBytes = 8192;

// --- formats ---

// Reads one file, the steps after it, and the reports.
std::string ReadAs(const Format& format, std::string_view bytes, bool reports) {
  auto store = Store::CreateTemporary();
  if (!store.ok()) return store.status().ToString();
  auto read = [&]() -> absl::Status {
    XP_TRY(store->Begin());
    EventWriter events(*store);
    XP_TRY(int64_t source_id,
           store->Add(SourceRow{
               .path = "input", .format = format.name, .imported = true, .kind = format.kind}));
    XP_TRY(int64_t run_id, store->Add(RunRow{.label = "the run", .selected = true, .why = ""}));
    ImportContext context(*store, events, source_id);
    XP_TRY(format.Read({"input", bytes}, context, false));
    XP_TRY(store->Run("UPDATE process SET run_id = ?1", run_id));
    XP_TRY(events.Flush());
    XP_TRY(JoinSources(*store));
    return store->Commit();
  };
  absl::Status status = read();
  if (!status.ok()) return CheckError(status, "input");
  return reports ? CheckReports(*store) : "";
}

// Returns heads and windows of this format's inputs, and thin copies if they are protobuf.
std::vector<std::string> FormatSeeds(const Format* format) {
  std::vector<std::string> seeds;
  for (const GoldenInput& input : GoldenInputs()) {
    if (input.format != format) continue;
    std::string_view bytes = input.bytes;
    if (bytes.size() <= kSeedBytes) {
      seeds.emplace_back(bytes);
      continue;
    }
    if (!IsText(bytes)) {
      seeds.push_back(ThinProto(bytes, 3, 256));
      seeds.push_back(ThinProto(bytes, 8, 64));
      continue;
    }
    Random random(SeedOf(input.name));
    seeds.emplace_back(bytes.substr(0, kSeedBytes));
    seeds.emplace_back(bytes.substr(bytes.size() - kSeedBytes));
    for (int i = 0; i < 4; ++i) {
      size_t line = bytes.find('\n', random.Below(bytes.size() - kSeedBytes));
      seeds.emplace_back(bytes.substr(std::min(line + 1, bytes.size()), kSeedBytes));
    }
  }
  return seeds;
}

// --- stores ---

std::string SmallStoreFile() {
  const fs::path path = Scratch() / fmt::format("small.{}.xlaprof", getpid());
  {
    auto store = Store::Create(path);
    absl::Status status = store.ok() ? RunSqlScript(*store, kSmallStoreSql) : store.status();
    if (!status.ok()) fmt::print(stderr, "{}\n", status.ToString());
    XP_CHECK(status.ok());
  }
  std::string bytes = ReadFile(path);
  fs::remove(path);
  return bytes;
}

// Reads a store as `xlaprof report` opens it: whole, or otherwise from its intact pages.
std::string RunStore(std::string_view bytes, bool) {
  const fs::path path = Scratch() / fmt::format("fuzzed.{}.xlaprof", getpid());
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
  auto opened = Store::Open(path);
  absl::Status status =
      opened.ok() ? internal::ToStatus(MakeReport(xlaprof::Run(*opened))) : opened.status();
  if (status.ok()) return CheckReports(*opened);
  if (status.code() != absl::StatusCode::kDataLoss) return CheckError(status, path);
  auto into = Store::CreateTemporary();
  if (!into.ok()) return into.status().ToString();
  auto recovered = ReadDamagedStore(path, *into);
  return recovered.ok() ? CheckReports(*into) : CheckError(recovered.status(), path);
}

// --- chunks ---

// The bytes are: kind, count (two bytes), least time, then the bytes after a chunk's header. The
// checksum is made to fit.
std::string RunChunk(std::string_view bytes, bool) {
  constexpr size_t kHead = 4;
  if (bytes.size() < kHead) return "";
  const int64_t count = int64_t(uint8_t(bytes[1])) << 8 | uint8_t(bytes[2]);
  const int64_t min_ts_ns = int64_t(uint64_t(uint8_t(bytes[3])) << 56);
  std::string blob(kHeaderBytes, char(kFormatVersion));
  blob += bytes.substr(kHead);
  SealForTest(&blob, uint64_t(count));
  static ChunkDecoder decoder;
  const int kind = uint8_t(bytes[0]) % 8;
  if (kind == 0) {
    std::vector<int64_t> ts_ns;
    std::vector<double> value;
    if (!decoder.Samples(blob, count, min_ts_ns, &ts_ns, &value).ok()) return "";
    return ts_ns.size() == size_t(count) && value.size() == size_t(count) ? "" : "wrong size";
  }
  if (kind <= 5) {
    ArgColumn column;
    if (!decoder.Arguments(blob, ArgType(kind - 1), count, 4096, &column).ok()) return "";
    for (uint32_t index : column.index) {
      if (index >= 4096) return "an index beyond the limit";
    }
    return column.index.size() == column.bits.size() ? "" : "wrong size";
  }
  EventColumns columns;
  if (!decoder.Events(blob, count, min_ts_ns, kAllEventColumns | kNameIndex, &columns).ok())
    return "";
  for (uint16_t index : columns.name_index) {
    if (index >= columns.names.size()) return "a name beyond the table";
  }
  return columns.ts_ns.size() == size_t(count) && columns.flow_out.size() == size_t(count)
             ? ""
             : "wrong size";
}

std::vector<std::string> ChunkSeeds() {
  std::vector<std::string> seeds;
  auto add = [&](int kind, size_t count, const std::string& blob) {
    std::string head{char(kind), char(count >> 8), char(count), 0};
    seeds.push_back(head + blob.substr(kHeaderBytes));
  };
  std::vector<Event> events;
  std::vector<uint16_t> depth;
  std::vector<uint32_t> index;
  std::vector<uint64_t> bits;
  std::vector<int64_t> ts_ns;
  std::vector<double> value;
  for (uint32_t i = 0; i < 40; ++i) {
    events.push_back({.ts_ns = int64_t(i) * 100,
                      .dur_ns = int64_t(i % 7) * 10 - 1,
                      .name = 1 + i % 5,
                      .category = 10 + i % 2,
                      .flow_in = i % 9,
                      .flow_out = i % 11});
    depth.push_back(uint16_t(i % 3));
    index.push_back(i * 3);
    bits.push_back(i * 77);
    ts_ns.push_back(int64_t(i) * 10);
    value.push_back(double(i) / 3);
  }
  ChunkEncoder encoder;
  EncodedEvents encoded;
  EventColumns columns;
  columns.Assign(events);
  columns.depth = depth;
  encoder.Events(columns, &encoded);
  add(7, events.size(), encoded.columns);
  for (int type = 0; type < 5; ++type)
    add(type + 1, index.size(), encoder.Arguments(ArgType(type), index, bits, 4096));
  add(0, ts_ns.size(), encoder.Samples(ts_ns, value));
  return seeds;
}

// --- SQL ---

// Runs any SQL on a store: its virtual tables must answer or refuse.
std::string RunSql(std::string_view bytes, bool) {
  auto store = Store::CreateTemporary();
  if (!store.ok() || !RunSqlScript(*store, kSmallStoreSql).ok()) return "no store";
  // A query may be slow for a user, but not here.
  int steps = 0;
  sqlite3_progress_handler(
      store->db(), 1000, [](void* count) { return int(++*static_cast<int*>(count) > 300); },
      &steps);
  (void)store->Exec(bytes);
  sqlite3_progress_handler(store->db(), 0, nullptr, nullptr);
  return "";
}

std::vector<std::string> SqlSeeds() {
  return {"SELECT * FROM event WHERE ts_ns BETWEEN 5 AND 2100 AND track_id IN (1, 2);",
          "SELECT e.name, a.key, a.value FROM event e JOIN arg a ON a.event_id = e.id;",
          "INSERT INTO event (track_id, ts_ns, dur_ns, name) VALUES (1, 9223372036854775807, 1, "
          "x'00ff');SELECT * FROM event;",
          "INSERT INTO arg (event_id, key, value) VALUES (6, 'k', 1e308); SELECT * FROM arg;",
          "SELECT * FROM flow; SELECT value FROM counter_sample WHERE ts_ns >= 50 ORDER BY ts_ns;",
          "SELECT xlaprof_chunks_damaged(), * FROM event WHERE id = 3 OR id IS NULL;"};
}

}  // namespace

const std::string_view kSmallStoreSql = R"(
  INSERT INTO run (id, label, selected, why) VALUES (1, 'a', 1, 'only');
  INSERT INTO source (id, path, format, imported) VALUES (1, 'x.pb', 'xspace', 1);
  INSERT INTO process (id, run_id, source_id, segment, host, pid, rank)
    VALUES (1, 1, 1, 0, 'host', 7, 0);
  INSERT INTO track (id, process_id, kind, name, tid, sort) VALUES
    (1, 1, 'host_thread', 'python', 7, 0), (2, 1, 'device', 'XLA Modules', 1, 1),
    (3, 1, 'counter', 'bytes', 1, 2);
  INSERT INTO event (id, track_id, ts_ns, dur_ns, name, category, flow_in, flow_out) VALUES
    (1, 1, 0, 1000, 'train', 'step', NULL, NULL), (2, 1, 10, 100, 'f', 'compile', NULL, 7),
    (3, 1, 2000, 1000, 'train', 'step', NULL, NULL), (4, 2, 500, 200, 'jit_f', 'module', 7, NULL),
    (5, 2, 2500, 200, 'jit_f', 'module', NULL, NULL);
  INSERT INTO arg (event_id, key, value) VALUES (1, 'step_num', 3), (2, 'hash', 'abc');
  INSERT INTO counter_sample (track_id, ts_ns, value) VALUES (3, 0, 1.5), (3, 100, 2);
  INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
    VALUES (1, 1, 0, 0, 'train', 0, 1000), (2, 1, 1, 1, 'train', 2000, 1000);
  INSERT INTO graph (id, process_id, hash, name, node_count, printed_as)
    VALUES (1, 1, 'abc', 'm', 1, 'hlo'), (2, 1, 'abd', 'm', 1, 'hlo');
  INSERT INTO graph_node (graph_id, idx, op, shape, operands, location)
    VALUES (1, 0, 'add', 'f32[2]', '', 'f@x.py:3'), (2, 0, 'add', 'f32[3]', '', 'f@x.py:3');
  INSERT INTO site (id, function, file, line) VALUES (1, 'f', 'x.py', 3);
  INSERT INTO stack (id, hash) VALUES (1, 'h');
  INSERT INTO frame (stack_id, depth, function, file, line, owner)
    VALUES (1, 0, 'f', 'x.py', 3, 'user');
  INSERT INTO compile (id, process_id, ordinal, graph_id, ts_ns, dur_ns, dur_from, cause, site_id,
                       inferred)
    VALUES (1, 1, 0, 1, 10, 100, 'profile', 'user_sync', 1, 0),
           (2, 1, 5, 2, 2010, 100, 'profile', 'user_sync', 1, 0);
  INSERT INTO execution (id, process_id, ordinal, graph_id, ts_ns, dur_ns, cause, site_id, step_id)
    VALUES (1, 1, 1, 1, 500, 200, 'user_sync', 1, 1), (2, 1, 6, 1, 2500, 200, 'user_sync', 1, 2);
  INSERT INTO transfer (id, process_id, ordinal, direction, bytes, ts_ns, dur_ns)
    VALUES (1, 1, 3, 'to_device', 8, 0, 5);
  INSERT INTO fallback (id, process_id, ordinal, op, count) VALUES (1, 1, 4, 'aten::nonzero', 3);
)";

const std::vector<FuzzTarget>& FuzzTargets() {
  static const auto* targets = [] {
    auto* all = new std::vector<FuzzTarget>;
    for (const Format* format : AllFormats()) {
      all->push_back({format->name,
                      [format](std::string_view bytes, bool reports) {
                        return ReadAs(*format, bytes, reports);
                      },
                      [format] { return FormatSeeds(format); }});
    }
    all->push_back({"store", RunStore, [] { return std::vector{SmallStoreFile()}; }});
    all->push_back({"chunk", RunChunk, ChunkSeeds});
    all->push_back({"ring", RunRing, RingSeeds});
    all->push_back({"sql", RunSql, SqlSeeds});
    return all;
  }();
  return *targets;
}

const FuzzTarget* FuzzTargetNamed(std::string_view name) {
  for (const FuzzTarget& target : FuzzTargets()) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

}  // namespace xlaprof
