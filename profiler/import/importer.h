// What an importer is. One file a format: `profiler/import/FAMILY/NAME.cc` defines `extern const
// Importer NAME{...}` and its name stands in profiler/import/CMakeLists.txt. Sniff looks at bytes,
// never at a name; Read writes facts to a store.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "profiler/store/events.h"
#include "profiler/store/store.h"

namespace xlaprof {

// One file, whole and decompressed; in memory or mapped, valid while Read runs.
struct Input {
  std::string path;        // as the user knows it, for messages only
  std::string_view bytes;  // all of it
};

// What Read writes to. It belongs to one source; facts belong to process_id(), which changes at
// restart marks.
class ImportContext {
 public:
  ImportContext(Store& store, EventWriter& events, int64_t source_id)
      : store(store), events(events), source_id(source_id) {}

  Store& store;
  EventWriter& events;
  const int64_t source_id;

  // The process whose facts are being read; made on first use.
  absl::StatusOr<int64_t> ProcessId();
  // Another process in the same source and segment (a second host plane, say); becomes the current
  // one.
  absl::StatusOr<int64_t> NewProcess(OptText host, OptInt pid, OptInt rank);
  // A restart mark: torch_xla appends to its files across runs. What follows belongs to the next
  // segment.
  void Restart();
  // Ordinal of the next fact of the current process: 0, 1, 2, ...
  int64_t NextOrdinal() { return position_.next_ordinal++; }

  // Several files may tell of one process (a dump of XLA): each has a context of its own that goes
  // on where the one before stopped.
  struct Position {
    int64_t next_ordinal = 0, process_id = 0, segment = 0;
  };
  Position position() const { return position_; }
  void Continue(const Position& position) { position_ = position; }

  // Counts something odd; the first call for a code keeps offset, line and advice.
  absl::Status Issue(std::string_view code, Severity severity, std::string_view advice,
                     OptInt offset = {}, OptInt line = {}, int64_t count = 1) {
    return store.AddIssue(source_id, code, severity, advice, offset, line, count);
  }
  // Adds a row and says where it was found.
  template <class Row>
  absl::StatusOr<int64_t> Add(const Row& row, OptInt offset = {}, OptInt line = {}) {
    XP_TRY(int64_t id, store.Add(row));
    OptInt ordinal;
    if constexpr (requires { row.ordinal; }) ordinal = row.ordinal;
    XP_TRY(store.Add(ProvenanceRow{Row::kTable, id, source_id, offset, line, ordinal}));
    return id;
  }
  // Offset that turns this source's "ns since epoch_ns" into the store's times. The first source
  // with a clock sets meta.base_epoch_ns; later ones are moved to it. Also fills
  // source.clock_offset_ns.
  absl::StatusOr<int64_t> AlignClock(int64_t epoch_ns);

  // Progress in bytes of the input, for the bar; cheap. What lies before may be read again, but its
  // memory is given back.
  std::function<void(size_t bytes_done)> progress = [](size_t) {};

 private:
  Position position_;
};

struct Importer {
  const char* name;     // what --as takes and source.format holds
  const char* summary;  // one line: what writes such files
  const char* example;  // a typical file name
  // 0: not this format; 100: certainly. `head` is the first 64 KiB (or all) of the decompressed
  // bytes.
  int (*sniff)(std::string_view head);
  // Reads what it can. Partly bad input: an Issue, and on. An error status only if nothing could be
  // read: what, where (byte or line), what to try.
  absl::Status (*read)(const Input& input, ImportContext& context);
  // Whether large files of this format are mapped instead of copied (input.h): profiles, which are
  // written once and may have gigabytes. Logs are not, because they are truncated while we read.
  bool maps_large_files = false;
};

std::span<const Importer* const> AllImporters();

}  // namespace xlaprof
