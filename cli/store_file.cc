#include "cli/store_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "analyzers/quantity.h"
#include "analyzers/report/report.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "core/base/escape.h"
#include "core/base/unfinished_file.h"

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
  XP_TRY(Store store, Store::Create(path));
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

absl::Status CheckStoreOutput(const fs::path& output, bool force) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(output, error))) return absl::OkStatus();
  if (!force) return OutputExistsError(output.string());
  auto store = Store::Open(output);
  if (!store.ok())
    return Invalid("{}: exists and is not an xlaprof store, so --force does not replace it ({})",
                   output.string(), Message(store.status()));
  return absl::OkStatus();
}

absl::Status CheckWritable(const fs::path& output) {
  const UnfinishedFile probe(output);
  const int fd = open(probe.path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) {
    return IoError("{}: cannot be created: {}. Check that its directory exists and is writable",
                   output.string(), std::strerror(errno));
  }
  close(fd);
  return absl::OkStatus();
}

absl::StatusOr<std::string> WriteStoreFile(ImportOptions inputs, const fs::path& output, bool force,
                                           const std::function<absl::Status(Store&)>& finish) {
  XP_TRY(CheckStoreOutput(output, force));
  UnfinishedFile unfinished(output);
  XP_TRY(Report report, ImportInto(inputs, unfinished.path(), finish));
  // Checks again, because the import takes long and another program may have made the file.
  XP_TRY(CheckStoreOutput(output, force));
  std::error_code error;
  auto bytes = fs::file_size(unfinished.path(), error);
  XP_TRY(unfinished.Finish());
  int64_t files = 0, warnings = 0;
  for (const SourceRow& source : report.sources) files += source.imported;
  for (const Finding& finding : report.findings) warnings += finding.severity != Severity::kInfo;
  const bool is_clean = warnings == 0 && report.issues.empty();
  const size_t issues = report.issues.size();
  return fmt::format(
      "{}: {}, {} file{} read, {} warning{}{}. {}: xlaprof report {}\n", Printable(output.string()),
      BytesText(double(bytes)), files, files == 1 ? "" : "s",
      is_clean ? "no" : fmt::to_string(warnings), warnings == 1 ? "" : "s",
      issues == 0 ? "" : fmt::format(", {} problem{} in the input", issues, issues == 1 ? "" : "s"),
      is_clean ? "Where the time goes" : "To see them", ShellWord(output.string()));
}

}  // namespace xlaprof
