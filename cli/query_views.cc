#include "cli/query_views.h"

#include <absl/strings/ascii.h>

#include <string>

#include "analyzers/report/report.h"
#include "cli/store_file.h"
#include "exporters/sqlite/sqlite_sql.h"

namespace xlaprof {
namespace {

// Makes the temporary table `finding`, which hides the empty one of the store. Does nothing if the
// store already has findings.
absl::Status AddFindings(const std::vector<std::filesystem::path>& source_roots, Store& store) {
  XP_TRY(const OptInt stored, store.One<int64_t>("SELECT count(*) FROM finding"));
  if (stored.value_or(0) > 0) return absl::OkStatus();
  Run run(store);
  XP_TRY(LetReadSources(source_roots, run));
  XP_TRY(const Report report, MakeReport(run));
  XP_TRY(
      store.Exec("CREATE TEMP TABLE finding (id INTEGER PRIMARY KEY, fingerprint TEXT, kind "
                 "TEXT, severity TEXT, title TEXT, count INTEGER, cost_ns INTEGER, json TEXT)"));
  return InsertFindings(report.findings, "temp", store);
}

// Replaces the view capture_start, which reads a row that only exports have.
absl::Status AddCaptureStart(Store& store) {
  XP_TRY(const OptInt start_ns, CaptureStart(store));
  return store.Exec(
      fmt::format("CREATE TEMP VIEW capture_start AS SELECT {} AS ts_ns", start_ns.value_or(0)));
}

}  // namespace

absl::Status AddQueryViews(std::string_view sql,
                           const std::vector<std::filesystem::path>& source_roots, Store& store) {
  const bool mentions_findings =
      absl::AsciiStrToLower(std::string(sql)).find("finding") != std::string::npos;
  if (mentions_findings) XP_TRY(AddFindings(source_roots, store));
  XP_TRY(AddCaptureStart(store));
  constexpr std::string_view kCreate = "CREATE VIEW ",
                             kTemporary = "CREATE TEMP VIEW IF NOT EXISTS ";
  std::string views(SqliteViewsSql());
  for (size_t at = views.find(kCreate); at != std::string::npos;
       at = views.find(kCreate, at + kTemporary.size()))
    views.replace(at, kCreate.size(), kTemporary);
  return store.Exec(views);
}

}  // namespace xlaprof
