#include "tests/fuzz/ring_target.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "profiler/record/recover.h"
#include "profiler/record/ring_file.h"
#include "tests/hostile/check.h"
#include "tests/read_file.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using record::ArgSlot;
using record::RingFile;
using record::Slot;

// Places of the parts in the file, and how much of each is in a seed. The slots take the rest.
constexpr uint32_t kLevels = 2;
constexpr uint64_t kSlots = record::SlotsBelow(kLevels);
constexpr size_t kSitesAt = record::kPageBytes + record::kStringBytes;
constexpr size_t kSegmentAt = kSitesAt + record::kMaxSites * sizeof(record::SiteEntry);
struct Part {
  size_t at, bytes;
};
constexpr Part kParts[] = {{0, sizeof(record::FileHeader)},
                           {record::kPageBytes, 512},
                           {kSitesAt, 256},
                           {kSegmentAt, sizeof(record::ThreadHeader)},
                           {kSegmentAt + record::kPageBytes, kSlots * sizeof(Slot)}};
constexpr size_t kKeyAt = offsetof(record::FileHeader, key), kKeyBytes = 16;

// A store that is being recorded, and its ring.
struct Recorded {
  std::string store, ring, key;
};

absl::StatusOr<Recorded> Record() {
  const fs::path path = Scratch() / fmt::format("recorded.{}.xlaprof", getpid());
  Recorded recorded;
  {
    XP_TRY(auto file, RingFile::Create(RingPath(path), kLevels));
    file->header().first = {1000, 0};
    file->header().newest[0] = file->header().newest[1] = {2'600'001'000, 1'000'000'000};
    XP_TRY(Store store, Store::Create(path));
    XP_TRY(store.Begin());
    XP_TRY(int64_t run_id, store.Add(RunRow{.label = "run", .selected = true, .why = "recorded"}));
    XP_TRY(
        int64_t source_id,
        store.Add(SourceRow{
            .path = "run", .format = "recording", .imported = true, .kind = SourceKind::kTimed}));
    XP_TRY(int64_t process_id,
           store.Add(ProcessRow{.run_id = run_id, .source_id = source_id, .pid = 1}));
    XP_TRY(store.Add(RecordingRow{
        .process_id = process_id, .ring = "ring", .ring_key = file->Key(), .clock = "tsc"}));
    XP_TRY(store.Commit());
    XP_TRY(store.Exec("PRAGMA journal_mode=DELETE"));

    const uint32_t name = file->AddString("forward"), source = file->AddString("train.cc"),
                   key = file->AddString("layer");
    const uint32_t site = file->AddSite(
        {.name = name, .file = source, .function = name, .line = 7, .category = 0, .label = key});
    XP_TRY(record::Segment segment, file->AddSegment());
    segment.header->tid = 12;
    record::Ring ring(1, segment.header, segment.slots);
    ArgSlot arg{};
    arg.bits[0] = 5, arg.bits[1] = source, arg.key[0] = arg.key[1] = key, arg.type[1] = 3;
    for (uint64_t i = 0; i < 20; ++i) {
      const uint64_t begin = 2000 + 1000 * i;
      ring.Publish(begin + 10, begin + 20, 0, Slot::What(site, 2, record::kScope));
      ring.Publish(begin + 5, begin + 50, 77,
                   Slot::What(site, 1, record::kScope) | Slot::Bits(2 | record::kFlowOut), &arg, 1);
      ring.Publish(begin, begin + 100, i, Slot::What(site, 0, record::kStep));
      ring.Publish(begin + 200, 0, std::bit_cast<uint64_t>(0.5),
                   Slot::What(site, 0, record::kCounter));
      if (i % 4 == 0)
        ring.Publish(begin, begin + 300, i == 0 ? 0 : key,
                     Slot::What(site, 0, record::kSlice) | Slot::Bits(2), &arg, 1);
    }
    ring.Open(0, site, 30'000);
  }
  const std::string whole = ReadFile(RingPath(path));
  for (const Part& part : kParts) recorded.ring += whole.substr(part.at, part.bytes);
  recorded.key = whole.substr(kKeyAt, kKeyBytes);
  recorded.store = ReadFile(path);
  fs::remove(path);
  fs::remove(RingPath(path));
  return recorded;
}

const Recorded& TheRecorded() {
  static const Recorded& recorded = *new Recorded(*Record());
  return recorded;
}

}  // namespace

std::vector<std::string> RingSeeds() { return {TheRecorded().ring}; }

std::string RunRing(std::string_view bytes, bool reports) {
  const Recorded& recorded = TheRecorded();
  const fs::path path = Scratch() / fmt::format("ring.{}.xlaprof", getpid());
  const fs::path ring = RingPath(path);
  std::ofstream(path, std::ios::binary) << recorded.store;
  {
    std::ofstream out(ring, std::ios::binary);
    for (const Part& part : kParts) {
      out.seekp(std::streamoff(part.at));
      out << bytes.substr(0, part.bytes);
      bytes.remove_prefix(std::min(bytes.size(), part.bytes));
    }
    // With a wrong key, the ring belongs to another recording and is not read.
    out.seekp(std::streamoff(kKeyAt));
    out << recorded.key;
  }
  std::error_code error;
  if (const size_t cut = bytes.size() * 4096; cut > 0)  // the rest is the cut length
    fs::resize_file(ring, fs::file_size(ring) - std::min<size_t>(fs::file_size(ring), cut), error);
  else
    fs::resize_file(ring, kSegmentAt + record::kPageBytes + kSlots * sizeof(Slot), error);
  std::string said;
  auto taken = RecoverRecording(path);
  if (!taken.ok()) said = CheckError(taken.status(), ring);
  auto store = Store::Open(path);
  if (!store.ok()) said = store.status().ToString();
  if (said.empty() && reports) said = CheckReports(*store);
  fs::remove(path, error);
  fs::remove(ring, error);
  return said;
}

}  // namespace xlaprof
