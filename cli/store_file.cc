#include "cli/store_file.h"

#include "analyzers/quantity.h"
#include "analyzers/report/report.h"
#include "base/escape.h"
#include "cli/progress.h"
#include "cli/terminal.h"

namespace xlaprof {

namespace fs = std::filesystem;

namespace {

// The number of bytes that SQLite may memory-map.
constexpr int64_t kMappedBytes = INT32_MAX;

// Writes the findings. Committing with synchronous=NORMAL flushes the whole file.
absl::Status StoreFindings(const Findings& findings, Store& store) {
  XP_TRY(store.Exec("PRAGMA synchronous=NORMAL"));
  XP_TRY(store.Begin());
  XP_TRY(InsertFindings(findings, "main", store));
  return store.Commit();
}

absl::StatusOr<Report> ImportInto(ImportOptions& inputs, const fs::path& path,
                                  const std::function<absl::Status(Store&)>& finish) {
  XP_TRY(Store store, Store::CreateIn(path));
  // The file has no reader and no name yet. So its pages are written once, and are flushed only at
  // the end.
  XP_TRY(store.Exec("PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY"));
  {
    Progress progress;
    inputs.progress = [&](double fraction, std::string_view what) {
      progress.Update(fraction, what);
    };
    XP_TRY(Import(inputs, store));
  }
  XP_TRY(finish(store));
  // The new data are read next, several times, and nobody else uses the file.
  XP_TRY(store.Exec(fmt::format("PRAGMA mmap_size={}", kMappedBytes)));
  XP_TRY(Report report, MakeReport(Run(store)));
  XP_TRY(StoreFindings(report.findings, store));
  // Nobody writes to the file any more. Without a write-ahead log, readers need no files beside it.
  XP_TRY(store.Exec("PRAGMA journal_mode=DELETE"));
  return report;
}

}  // namespace

absl::Status InsertFindings(const Findings& findings, std::string_view database, Store& store) {
  const std::string sql = fmt::format(
      "INSERT INTO {}.finding (id, fingerprint, kind, severity, title, count, cost_ns, json) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
      database);
  int64_t rank = 0;
  for (const Finding& finding : findings) {
    XP_TRY(store.Run(sql, ++rank, finding.fingerprint, finding.kind(), finding.severity,
                     finding.words.title, finding.count, finding.cost_ns, FindingJson(finding)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> WriteStoreFile(ImportOptions inputs, Output& output,
                                           const std::function<absl::Status(Store&)>& finish) {
  XP_TRY(const fs::path path, output.Begin());
  XP_TRY(Report report, ImportInto(inputs, path, finish));
  std::error_code error;
  auto bytes = fs::file_size(path, error);
  XP_TRY(output.Finish());
  int64_t files = 0, warnings = 0;
  for (const SourceRow& source : report.sources) files += source.imported;
  for (const Finding& finding : report.findings) warnings += finding.severity != Severity::kInfo;
  const bool is_clean = warnings == 0 && report.issues.empty();
  const size_t issues = report.issues.size();
  return fmt::format(
      "{}: {}, {} file{} read, {} warning{}{}. {}: xlaprof report {}\n", Printable(output.name()),
      BytesText(double(bytes)), files, files == 1 ? "" : "s",
      is_clean ? "no" : fmt::to_string(warnings), warnings == 1 ? "" : "s",
      issues == 0 ? "" : fmt::format(", {} problem{} in the input", issues, issues == 1 ? "" : "s"),
      is_clean ? "Where the time goes" : "To see them", ShellWord(output.name()));
}

}  // namespace xlaprof
