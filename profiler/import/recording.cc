// Reads stores that our own recorder wrote, one per process, as sources of one run: the processes
// of a job that recorded into one folder. The store of a profile (`xlaprof capture`) is read in the
// same way, so that it joins with logs and dumps. A single store is opened as it is, and not
// imported.
#include <filesystem>
#include <map>
#include <optional>

#include "profiler/import/importer.h"
#include "profiler/import/store_file.h"
#include "profiler/record/recover.h"
#include "profiler/store/damaged_store.h"
#include "profiler/store/issue_codes.h"
#include "profiler/store/origin.h"
#include "profiler/store/tables.h"

namespace xlaprof {
namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);
// Flows of different processes must not meet, so a flow number below this many bits gets the
// source's id in the bits above.
constexpr int kSourceBits = 44;

int SniffRecording(std::string_view head) { return head.starts_with(kMagic) ? 95 : 0; }

using Ids = absl::flat_hash_map<int64_t, int64_t>;  // from a row's id in the source to its id in
                                                    // the store

class Copying {
 public:
  // `is_recorded`: our own recorder wrote the store, which has all steps of its process.
  Copying(const Store& from, bool is_recorded, ImportContext& context)
      : from_(from), context_(context), is_recorded_(is_recorded) {}

  absl::Status Run() {
    XP_TRY(CopyProcesses());
    XP_TRY(CopyTracks());
    XP_TRY(CopyRecordings());
    XP_TRY(CopyEvents());
    XP_TRY(CopySamples());
    XP_TRY(CopySites());
    XP_TRY(CopyStacks());
    for (const TableTraits& table : kTables) {
      if (table.is_fact) XP_TRY(CopyFacts(table));
    }
    XP_TRY(std::vector<ImportIssueRow> issues, from_.Rows<ImportIssueRow>());
    for (const ImportIssueRow& issue : issues) {
      XP_TRY(context_.Issue(issue.code, issue.severity, issue.advice, issue.first_offset,
                            issue.first_line, issue.count));
    }
    return absl::OkStatus();
  }

 private:
  // Returns the id of the same text in the store that is written.
  absl::StatusOr<StringId> String(StringId id, bool bytes = false) {
    if (id == 0) return StringId(0);
    if (id >= strings_.size()) strings_.resize(id + 1);
    if (strings_[id] == 0) {
      XP_TRY(strings_[id], context_.store.Intern(from_.Text(id), bytes));
    }
    return strings_[id];
  }
  static int64_t Of(const Ids& ids, int64_t id) {
    auto found = ids.find(id);
    return found == ids.end() ? 0 : found->second;
  }
  uint64_t Flow(uint64_t flow) const {
    if (flow == 0) return 0;
    const auto source = uint64_t(context_.source_id);
    if (flow >> kSourceBits == 0) return source << kSourceBits | flow;
    return ((flow ^ source) * 0x9e3779b97f4a7c15) | uint64_t(1) << 63;
  }

  absl::Status CopyProcesses() {
    XP_TRY(OptInt base_ns, from_.MetaNs("base_epoch_ns"));
    if (base_ns) {
      XP_TRY(offset_ns_, context_.AlignClock(*base_ns));
    }
    return from_.Each(
        "SELECT id, host, pid, rank, name FROM process ORDER BY id",
        [&](int64_t id, OptText host, OptInt pid, OptInt rank, OptText name) -> absl::Status {
          XP_TRY(processes_[id], context_.NewProcess(std::move(host), pid, rank));
          return context_.store.Run("UPDATE process SET name = ?2 WHERE id = ?1", processes_[id],
                                    name);
        });
  }

  absl::Status CopyTracks() {
    XP_TRY(std::vector<TrackRow> tracks, from_.Rows<TrackRow>("ORDER BY id"));
    for (TrackRow& track : tracks) {
      const int64_t id = std::exchange(track.id, 0);
      if (track.process_id) track.process_id = Of(processes_, *track.process_id);
      if (track.parent_id) track.parent_id = Of(tracks_, *track.parent_id);
      XP_TRY(tracks_[id], context_.store.Add(track));
    }
    return absl::OkStatus();
  }

  absl::Status CopyRecordings() {
    Ids recordings;
    XP_TRY(std::vector<RecordingRow> rows, from_.Rows<RecordingRow>());
    for (RecordingRow& row : rows) {
      const int64_t id = std::exchange(row.id, 0);
      row.process_id = Of(processes_, row.process_id);
      XP_TRY(recordings[id], context_.store.Add(row));
    }
    XP_TRY(std::vector<RecordingThreadRow> threads, from_.Rows<RecordingThreadRow>());
    for (RecordingThreadRow& thread : threads) {
      thread.recording_id = Of(recordings, thread.recording_id);
      thread.track_id = Of(tracks_, thread.track_id);
      XP_TRY(context_.store.Add(thread));
    }
    return absl::OkStatus();
  }

  absl::Status CopyEvents() {
    XP_TRY(EventScanner scanner, EventScanner::Make(from_, {}));
    EventBatch batch;
    while (true) {
      XP_TRY(bool more, scanner.Next(&batch));
      if (!more) break;
      XP_TRY(CopyBatch(batch));
    }
    if (scanner.skipped_chunks() == 0) return absl::OkStatus();
    return context_.Issue(
        "damaged_store", Severity::kWarning,
        "Parts of the store are damaged. Their events are missing. Copy the file again.", {}, {},
        scanner.skipped_chunks());
  }

  absl::Status CopyBatch(const EventBatch& batch) {
    struct Column {
      StringId key;
      std::vector<std::optional<ArgValue>> values;
    };
    std::vector<Column> columns;
    XP_TRY(auto keys, from_.Collect(
                          "SELECT DISTINCT key_id FROM arg_chunk WHERE event_chunk_id = "
                          "?1",
                          [](int64_t key) { return StringId(key); }, batch.chunk_id));
    for (StringId key : keys) {
      XP_TRY(StringId copied, String(key));
      XP_TRY(auto values, ReadArgumentColumn(from_, batch.chunk_id, key));
      columns.push_back({copied, std::move(values)});
    }
    const int64_t track_id = Of(tracks_, batch.track_id);
    for (size_t i = 0; i < batch.size; ++i) {
      Event event{.ts_ns = batch.ts_ns[i] + offset_ns_,
                  .dur_ns = batch.dur_ns[i],
                  .flow_in = Flow(batch.flow_in[i]),
                  .flow_out = Flow(batch.flow_out[i])};
      XP_TRY(event.name, String(batch.name[i]));
      XP_TRY(event.category, String(batch.category[i]));
      XP_TRY(context_.events.Add(track_id, event));
      for (const Column& column : columns) {
        const auto& value = column.values[size_t(batch.first_index) + i];
        if (!value) continue;
        ArgValue copied = *value;
        if (auto* text = std::get_if<Text>(&copied)) {
          XP_TRY(text->id, String(text->id));
        } else if (auto* bytes = std::get_if<Bytes>(&copied)) {
          XP_TRY(bytes->id, String(bytes->id, true));
        }
        context_.events.Arg(column.key, copied);
      }
    }
    return absl::OkStatus();
  }

  absl::Status CopySamples() {
    return EachCounterBatch(from_, [&](const CounterBatch& batch) -> absl::Status {
      for (size_t i = 0; i < batch.ts_ns.size(); ++i) {
        XP_TRY(context_.events.Counter(Of(tracks_, batch.track_id), batch.ts_ns[i] + offset_ns_,
                                       batch.value[i]));
      }
      return absl::OkStatus();
    });
  }

  absl::Status CopySites() {
    Ids& sites = ids_["site"];
    return from_.Each(
        "SELECT id, function, file, line FROM site ORDER BY id",
        [&](int64_t id, std::string function, std::string file, int64_t line) -> absl::Status {
          XP_TRY(sites[id], context_.store.AddSite(function, file, line));
          return absl::OkStatus();
        });
  }

  absl::Status CopyStacks() {
    std::map<int64_t, std::vector<Store::Frame>> stacks;
    XP_TRY(from_.Each("SELECT id FROM stack", [&](int64_t id) { stacks[id]; }));
    XP_TRY(from_.Each(
        "SELECT stack_id, function, file, line, owner FROM frame ORDER BY stack_id, depth",
        [&](int64_t stack, std::string function, std::string file, int64_t line, CodeOwner owner) {
          auto found = stacks.find(stack);
          if (found == stacks.end()) return;
          found->second.push_back({std::move(function), std::move(file), line, owner});
        }));
    for (const auto& [id, frames] : stacks) {
      XP_TRY(ids_["stack"][id], context_.store.AddStack(frames));
    }
    return absl::OkStatus();
  }

  // A column of a table of facts, and what has to be done to its values.
  struct Column {
    const ColumnTraits* traits;
    bool is_time, is_source;
    const Ids* ids;  // new ids of the rows that it refers to; null: it refers to none that were
                     // copied
  };

  std::vector<Column> ColumnsOf(const TableTraits& table) const {
    std::vector<Column> columns;
    for (const ColumnTraits& traits : table.columns) {
      const auto ids = ids_.find(traits.refers_to);
      columns.push_back({.traits = &traits,
                         .is_time = traits.name == "ts_ns" || traits.name.ends_with("_ts_ns"),
                         .is_source = traits.name == "source_id",
                         .ids = ids == ids_.end() ? nullptr : &ids->second});
    }
    return columns;
  }

  absl::Status CopyFacts(const TableTraits& table) {
    const std::vector<Column> columns = ColumnsOf(table);
    std::string names, marks;
    for (const Column& column : columns) {
      names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", column.traits->name);
      marks += marks.empty() ? "?" : ", ?";
    }
    Ids* ids = table.Has("id") ? &ids_[std::string(table.name)] : nullptr;
    // Steps without a time were derived from the cuts of the window, and are derived again from
    // those of all sources.
    const char* only = table.name == "step" && !is_recorded_ ? "WHERE ts_ns IS NOT NULL" : "";
    XP_TRY(Statement from,
           from_.Prepare(fmt::format("SELECT {} FROM {} {} ORDER BY {}", names, table.name, only,
                                     ids != nullptr ? "id" : "1, 2")));
    XP_TRY(Statement into,
           context_.store.Prepare(
               fmt::format("INSERT OR IGNORE INTO {} ({}) VALUES ({})", table.name, names, marks)));
    while (true) {
      XP_TRY(bool more, from.Step());
      if (!more) return absl::OkStatus();
      if (!BindFact(columns, ids != nullptr, from, into)) continue;
      absl::Status status = internal::ToStatus(into.Step());
      into.Reset();
      XP_TRY(std::move(status));
      if (ids != nullptr && sqlite3_changes(context_.store.db()) != 0)
        (*ids)[from.Column<int64_t>(0)] = sqlite3_last_insert_rowid(context_.store.db());
    }
  }

  // Binds the values of a row. Returns false if the row refers to another row that is not there,
  // because the store is damaged.
  bool BindFact(const std::vector<Column>& columns, bool has_id, const Statement& from,
                Statement& into) const {
    for (int i = has_id ? 1 : 0; i < int(columns.size()); ++i) {
      const Column& column = columns[size_t(i)];
      if (column.is_source) {
        into.Bind(i + 1, context_.source_id);
      } else if (column.ids != nullptr && !from.IsNull(i)) {
        const int64_t id = Of(*column.ids, from.Column<int64_t>(i));
        if (id == 0 && !column.traits->is_nullable) return false;
        into.Bind(i + 1, id == 0 ? OptInt() : OptInt(id));
      } else if (column.is_time && !from.IsNull(i)) {
        into.Bind(i + 1, from.Column<int64_t>(i) + offset_ns_);
      } else {
        sqlite3_bind_value(into.get(), i + 1, sqlite3_column_value(from.get(), i));
      }
    }
    return true;
  }

  const Store& from_;
  ImportContext& context_;
  const bool is_recorded_;
  int64_t offset_ns_ = 0;
  std::map<std::string, Ids, std::less<>> ids_;  // by table, then by the id in `from_`
  Ids &processes_ = ids_["process"], &tracks_ = ids_["track"];
  std::vector<StringId> strings_;
};

// Returns the size that the header gives the file: pages (28) of a size (16),
// https://sqlite.org/fileformat.html.
uint64_t BytesOfHeader(std::string_view bytes) {
  if (bytes.size() < 100) return 0;
  auto byte = [&](size_t at) { return uint64_t(uint8_t(bytes[at])); };
  const uint64_t size = byte(16) << 8 | byte(17);
  const uint64_t pages = byte(28) << 24 | byte(29) << 16 | byte(30) << 8 | byte(31);
  return pages * (size == 1 ? 65536 : size);
}

// Reports a store that is cut. SQLite does not notice if only the empty end of a page is missing.
absl::Status TellCut(const Input& input, ImportContext& context) {
  const uint64_t whole = BytesOfHeader(input.bytes);
  if (input.bytes.size() >= whole) return absl::OkStatus();
  return context.Issue(
      issue_codes::kCutFile, Severity::kWarning,
      fmt::format("The store ends at byte {} of {}. Copy it again.", input.bytes.size(), whole),
      int64_t(input.bytes.size()));
}

absl::Status CopyRecording(const Input& input, const Store& from, ImportContext& context) {
  XP_TRY(auto recordings, from.One<int64_t>("SELECT count(*) FROM recording"));
  const bool is_recorded = recordings.value_or(0) > 0;
  XP_TRY(auto others, from.One<int64_t>("SELECT count(*) FROM source WHERE imported AND format NOT "
                                        "IN ('xspace', 'chrome')"));
  if (!is_recorded && others.value_or(0) > 0) {
    return Invalid(
        "{}: this store was made from logs or dumps, which were joined already, so it cannot be read together with other files. Name it alone, or name the captures that it was made from",
        input.path);
  }
  XP_TRY(TellCut(input, context));
  XP_TRY(Origin origin, OriginOf(from));
  context.identities = std::move(origin.sources);
  return Copying(from, is_recorded, context).Run();
}

absl::Status ReadRecording(const Input& input, ImportContext& context) {
  XP_TRY(const StoreFile file, StoreFile::Of(input.path, input.bytes));
  const std::filesystem::path& path = file.path();
  auto name = [&](const absl::Status& status) {  // messages use the user's name for the file
    std::string text(Message(status));
    if (const size_t at = text.find(path.string()); at != text.npos)
      text.replace(at, path.string().size(), input.path);
    return absl::Status(status.code(), text);
  };
  auto killed = ReadKilled(path);
  if (killed.ok() && *killed) return CopyRecording(input, **killed, context);
  auto from = Store::Open(path);
  absl::Status status = from.ok() ? CopyRecording(input, *from, context) : from.status();
  if (!absl::IsDataLoss(status)) return status.ok() ? status : name(status);
  XP_TRY(Store recovered, Store::CreateTemporary());
  auto result = ReadDamagedStore(path, recovered);
  if (!result.ok()) return name(result.status());
  return CopyRecording(input, recovered, context);
}

}  // namespace

extern const Importer recording{
    .name = "recording",
    .summary = "Stores of xlaprof's own recorder, one per process (XLAPROF_RECORD=FOLDER)",
    .example = "trainer.4711.xlaprof",
    .sniff = SniffRecording,
    .read = ReadRecording,
    .maps_large_files = true,
    .framework = Framework::kCpp,
    .kind = SourceKind::kTimed,
    .is_store = true,
    .keeps = 3};

}  // namespace xlaprof
