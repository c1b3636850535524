// Defines what an importer is. There is one file per format: `profiler/import/FAMILY/NAME.cc`
// defines `extern const Importer NAME{...}`, and profiler/import/CMakeLists.txt lists its name.
// Sniff looks at bytes, never at a name; Read writes facts to a store.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "profiler/store/events.h"
#include "profiler/store/store.h"

namespace xlaprof {

// One file, whole and decompressed; in memory or mapped, valid while Read runs.
struct Input {
  std::string path;        // as the user knows it, for messages only
  std::string_view bytes;  // all of it
};

// The context that Read writes to. It belongs to one source. Facts belong to ProcessId(), which
// changes at restart marks.
class ImportContext {
 public:
  ImportContext(Store& store, EventWriter& events, int64_t source_id)
      : store(store), events(events), source_id(source_id) {}

  Store& store;
  EventWriter& events;
  const int64_t source_id;

  // Returns the process whose facts are being read; it is made on first use.
  absl::StatusOr<int64_t> ProcessId();
  // Makes another process in the same source and segment (a second host plane, for example), which
  // becomes the current one. Returns its id.
  absl::StatusOr<int64_t> NewProcess(OptText host, OptInt pid, OptInt rank);
  // Begins the next segment, at a restart mark: torch_xla appends to its files across runs. All
  // facts that follow belong to that segment.
  void Restart();
  // Returns the ordinal of the next fact of the current process: 0, 1, 2, ...
  int64_t NextOrdinal() { return position_.next_ordinal++; }

  // Several files may describe one process (a dump of XLA). Each has a context of its own, which
  // continues where the previous one stopped.
  struct Position {
    int64_t next_ordinal = 0, process_id = 0, segment = 0;
  };
  Position position() const { return position_; }
  void Continue(const Position& position) { position_ = position; }

  // Counts an issue of the source. The offset, line and advice of the first call for a code stay.
  absl::Status Issue(std::string_view code, Severity severity, std::string_view advice,
                     OptInt offset = {}, OptInt line = {}, int64_t count = 1) {
    return store.AddIssue(source_id, code, severity, advice, offset, line, count);
  }
  // Adds a row and the place in the source where it was found. Returns the row's id.
  template <class Row>
  absl::StatusOr<int64_t> Add(const Row& row, OptInt offset = {}, OptInt line = {}) {
    XP_TRY(int64_t id, store.Add(row));
    OptInt ordinal;
    if constexpr (requires { row.ordinal; }) ordinal = row.ordinal;
    XP_TRY(store.Add(ProvenanceRow{Row::kTable, id, source_id, offset, line, ordinal}));
    return id;
  }
  // Returns the offset that converts this source's "ns since epoch_ns" to the store's times, or
  // DataLoss if it overflows. The first source with a clock sets meta.base_epoch_ns, and later ones
  // are aligned with it. Also sets source.clock_offset_ns.
  absl::StatusOr<int64_t> AlignClock(int64_t epoch_ns);

  // Identities of the content (profiler/store/origin.h), if the importer knows better ones than
  // that of the file's bytes.
  std::vector<std::string> identities;

  // Reports progress in bytes of the input, for the progress bar. A call is cheap. Bytes before
  // `bytes_done` may be read again, but their memory is released.
  std::function<void(size_t bytes_done)> progress = [](size_t) {};

 private:
  Position position_;
};

// Describes the recording of one trace by both ends of the file, without its events. This is enough
// to tell which traces are ranks of one job that was recorded at one time.
struct TraceSpan {
  std::optional<int64_t> rank, world_size;
  std::string host;  // "" unknown
  // Added to the times of the file's clock, this makes them count from 1970. Empty: unknown.
  std::optional<int64_t> base_epoch_ns;
  // Times of the events at both ends of the file, by the file's clock; first > last: none were
  // found.
  int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
};

struct Importer {
  const char* name;     // name that --as takes and source.format holds
  const char* summary;  // one line: what writes such files
  const char* example;  // a typical file name
  // Returns how certain it is that the bytes have this format, from 0 (not this format) to 100
  // (certain). `head` is the first 64 KiB (or all) of the decompressed bytes. If these are
  // inconclusive, it is also asked about the last 64 KiB, and about the first without escapes.
  int (*sniff)(std::string_view head);
  // Reads what it can. If a part of the input is bad, it adds an Issue and continues. Returns an
  // error status only if nothing could be read. The error says what is wrong, where (byte or line),
  // and what to try.
  absl::Status (*read)(const Input& input, ImportContext& context);
  // True if large files of this format are mapped instead of copied (input.h). Profiles are,
  // because they are written once and may have gigabytes. Logs are not, because they are truncated
  // while we read.
  bool maps_large_files = false;
  // The only framework that writes such files, if it is only one.
  Framework framework = Framework::kUnknown;
  SourceKind kind = SourceKind::kReports;  // what its facts are (schema.sql)
  // True if a run writes such files to a folder of their own. What lies above it is of the same run.
  bool has_own_folder = false;
  // True if the files are databases of SQLite, which say in a table from what they were made.
  bool is_store = false;
  // How much of a run an export to this format keeps. Of several exports of one run, the one that
  // keeps most is read.
  int keeps = 0;
  // Describes the recording. Null: files of this format that lie side by side are of one run.
  TraceSpan (*span)(std::string_view bytes) = nullptr;
};

std::span<const Importer* const> AllImporters();

}  // namespace xlaprof
