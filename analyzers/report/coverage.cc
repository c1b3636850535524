#include "analyzers/report/coverage.h"

#include <map>
#include <utility>

#include "analyzers/quantity.h"
#include "analyzers/report/metric_groups.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

using SamplesByName = std::map<std::string, int64_t, std::less<>>;

std::optional<int64_t> SamplesOf(const SamplesByName& samples,
                                 std::initializer_list<const char*> names) {
  std::optional<int64_t> sum;
  for (const char* name : names) {
    const auto n = samples.find(name);
    if (n != samples.end()) sum = sum.value_or(0) + n->second;
  }
  return sum;
}

class CoverageTable {
 public:
  explicit CoverageTable(const Run& run) : run_(run), store_(run.store()) {}

  absl::Status AddSources();
  absl::Status AddRows();
  absl::Status AddSilent();
  absl::Status AddEvents(const std::string& totals_note);
  absl::Status AddReports();
  std::vector<Coverage> Rows() && { return std::move(rows_); }

 private:
  // The metrics reports of one source. Steps and samples are those of the last one.
  struct Reports {
    int64_t count = 0, last = 0;
    OptInt marks;
  };

  // Returns the row of a source, or null if it was not imported.
  Coverage* At(OptInt source) {
    const auto row = source ? row_of_.find(*source) : row_of_.end();
    return row == row_of_.end() ? nullptr : &rows_[row->second];
  }
  static void AddNote(Coverage& row, const std::string& note) {
    row.note += (row.note.empty() ? "" : "; ") + note;
  }
  absl::Status EachCount(const char* table, const char* what, auto&& use);
  absl::Status AddTo(std::optional<int64_t> Coverage::* member, const char* table,
                     const char* what = "*");
  absl::StatusOr<std::map<int64_t, SamplesByName>> LastSamples(
      const std::map<int64_t, Reports>& by_source) const;

  const Run& run_;
  const Store& store_;
  std::vector<Coverage> rows_;
  std::map<int64_t, size_t> row_of_;  // source -> place in rows_
};

absl::Status CoverageTable::AddSources() {
  std::map<std::pair<std::string, std::string>, std::pair<size_t, int>>
      dumps;  // format and folder -> place, files
  XP_TRY(store_.Each(
      "SELECT id, path, coalesce(format, ''), coalesce(note, ''), coalesce(kind, 'reports'), links_to "
      "FROM source WHERE imported = 1 ORDER BY id",
      [&](int64_t id, std::string path, std::string format, std::string note, SourceKind kind,
          OptText links_to) {
        // Programs are dumped to a file each.
        if (kind == SourceKind::kCompiled || kind == SourceKind::kLowered) {
          const std::string folder = path.substr(0, path.find_last_of('/'));
          auto [dump, added] = dumps.try_emplace({format, folder}, std::pair(rows_.size(), 0));
          row_of_[id] = dump->second.first;
          if (++dump->second.second > 1) rows_[dump->second.first].path = folder;
          if (!added) return;
        }
        row_of_[id] = rows_.size();
        rows_.push_back({.path = path, .format = format, .note = note});
        if (links_to) AddNote(rows_.back(), "a link to " + *links_to);
      }));
  for (const auto& [name, dump] : dumps) {
    if (dump.second > 1)
      AddNote(rows_[dump.first], fmt::format("{} files without times", dump.second));
  }
  return absl::OkStatus();
}

// Calls use(row, count) for each source of rows of `table`. The rows of a recording do not refer to
// it, so all rows of its processes belong to it.
absl::Status CoverageTable::EachCount(const char* table, const char* what, auto&& use) {
  XP_TRY(const bool has_rows, store_.HasRows(table));
  if (!has_rows) return absl::OkStatus();
  return store_.Each(
      fmt::format("SELECT coalesce(v.source_id, p.source_id), count({}) FROM {} x LEFT JOIN "
                  "provenance v ON v.table_name = '{}' AND v.row_id = x.id LEFT JOIN process p "
                  "ON p.id = x.process_id WHERE v.source_id IS NOT NULL OR p.source_id NOT IN "
                  "(SELECT source_id FROM provenance) GROUP BY 1",
                  what, table, table),
      [&](OptInt source, int64_t n) {
        if (Coverage* row = At(source)) use(*row, n);
      });
}

absl::Status CoverageTable::AddTo(std::optional<int64_t> Coverage::* member, const char* table,
                                  const char* what) {
  return EachCount(table, what, [member](Coverage& row, int64_t n) {
    row.*member = (row.*member).value_or(0) + n;
  });
}

absl::Status CoverageTable::AddRows() {
  // Programs that came from a cache were not compiled.
  XP_TRY(AddTo(&Coverage::compiles, "compile", "nullif(coalesce(x.persistent_hit, 0), 1)"));
  XP_TRY(AddTo(&Coverage::executions, "execution"));
  XP_TRY(AddTo(&Coverage::transfers, "transfer"));
  // The steps are those of its executions, and those that it shows itself.
  XP_TRY(AddTo(&Coverage::steps, "execution", "DISTINCT x.step_id"));
  XP_TRY(EachCount("step", "*", [](Coverage& row, int64_t n) { TakeMore(row.steps, n); }));
  for (Coverage& row : rows_) {
    if (row.steps == 0) row.steps.reset();
  }
  return absl::OkStatus();
}

absl::Status CoverageTable::AddSilent() {
  XP_TRY(const SilentProcesses* silent, run_.Get<SilentProcesses>());
  for (const int64_t process : silent->ids) {
    XP_TRY(const OptInt source,
           store_.One<int64_t>("SELECT source_id FROM process WHERE id = ?1", process));
    if (Coverage* row = At(source))
      AddNote(*row, "nothing was recorded, as in a process that only starts others");
  }
  return absl::OkStatus();
}

// Events are on tracks. A track belongs to its own source, or else to the source of its process.
absl::Status CoverageTable::AddEvents(const std::string& totals_note) {
  return store_.Each(
      "SELECT coalesce(p.source_id, r.source_id), CAST(total(c.count) AS INTEGER), "
      "min(c.min_ts_ns), max(c.max_end_ns), max(t.kind <> 'samples') FROM event_chunk c JOIN track t "
      "ON t.id = c.track_id LEFT JOIN process r ON r.id = t.process_id LEFT JOIN provenance p ON p.table_name = "
      "'track' AND p.row_id = t.id GROUP BY 1",
      [&](OptInt source, int64_t n, int64_t from_ns, int64_t to_ns, bool has_times) {
        Coverage* row = At(source);
        if (row == nullptr) return;
        row->events = n, row->from_ns = from_ns, row->to_ns = to_ns;
        if (has_times && !totals_note.empty()) AddNote(*row, totals_note);
      });
}

absl::StatusOr<std::map<int64_t, SamplesByName>> CoverageTable::LastSamples(
    const std::map<int64_t, Reports>& by_source) const {
  std::map<int64_t, SamplesByName> by_report;
  for (const auto& [source, reports] : by_source) by_report[reports.last];
  XP_TRY(store_.Each(
      "SELECT report_id, name, max(samples) FROM metric WHERE samples IS NOT NULL GROUP BY "
      "report_id, name",
      [&](int64_t report, std::string name, int64_t n) {
        const auto last = by_report.find(report);
        if (last != by_report.end()) last->second[std::move(name)] = n;
      }));
  return by_report;
}

absl::Status CoverageTable::AddReports() {
  std::map<int64_t, Reports> by_source;
  XP_TRY(
      store_.Each("SELECT source_id, id, mark_step FROM metrics_report ORDER BY source_id, "
                  "coalesce(mark_step, -1), ordinal",
                  [&](int64_t source, int64_t id, OptInt marks) {
                    Reports& reports = by_source[source];
                    ++reports.count, reports.last = id, reports.marks = marks;
                  }));
  XP_TRY(auto samples, LastSamples(by_source));
  for (const auto& [source, reports] : by_source) {
    Coverage* row = At(source);
    if (row == nullptr) continue;
    const SamplesByName& last = samples[reports.last];
    row->steps = reports.marks;
    row->compiles = SamplesOf(last, kCompileMetrics);
    row->executions = SamplesOf(last, kExecuteMetrics);
    row->transfers = SamplesOf(
        last, SamplesOf(last, kUploadMetrics) ? kTransferMetrics : kTransferOrValueMetrics);
    XP_TRY(auto apart,
           store_.One<int64_t>("SELECT count FROM import_issue WHERE source_id = ?1 AND code = ?2",
                               source, issue_codes::kSeparateReports));
    const std::string_view kind = reports.count == 1            ? "report"
                                  : !apart                      ? "cumulative report"
                                  : *apart + 1 >= reports.count ? "independent report"
                                                                : "partly cumulative report";
    AddNote(*row, fmt::format("{} without times{}", Plural(reports.count, kind),
                              reports.marks ? "; step marks are counted as steps" : ""));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SilentProcesses> SilentProcesses::Of(const Run& run) {
  SilentProcesses silent;
  XP_TRY(run.store().Each("SELECT process_id FROM recording",
                          [&](int64_t process) { silent.ids.insert(process); }));
  for (const char* table : {"track", "step", "compile", "execution", "transfer", "fallback",
                            "untied_weight", "loader_epoch"}) {
    if (silent.ids.empty()) break;
    XP_TRY(run.store().Each(
        fmt::format("SELECT DISTINCT process_id FROM {} WHERE process_id IS NOT NULL", table),
        [&](int64_t process) { silent.ids.erase(process); }));
  }
  return silent;
}

absl::StatusOr<std::vector<Coverage>> CoverageOf(const Run& run, const std::string& totals_note) {
  CoverageTable table(run);
  XP_TRY(table.AddSources());
  XP_TRY(table.AddRows());
  XP_TRY(table.AddSilent());
  XP_TRY(table.AddEvents(totals_note));
  XP_TRY(table.AddReports());
  return std::move(table).Rows();
}

}  // namespace xlaprof
