#include "tests/hostile/check.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analyzers/report/report.h"
#include "base/escape.h"
#include "profiler/import/import.h"
#include "profiler/import/text/utf8.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

// Nobody reads a longer report, except JSON, which is for programs.
constexpr size_t kLongestReportBytes = 4 << 20;
// A longer JSON report, in which a name of megabytes occurs several times, is not parsed: with the
// address sanitizer that takes most of a case's time.
constexpr size_t kLongestParsedJsonBytes = 32 << 20;
// A longer message hides its point.
constexpr size_t kLongestErrorBytes = 4000;

// Every error contains one of these pieces of advice.
constexpr const char* kAdvice[] = {"Try ",     "--as",     "Copy ",          "copy it", "Run ",
                                   "Set ",     "Use a ",   "Name ",          "Print ",  "Import ",
                                   "Capture ", "`xlaprof", "still starting", "Give "};

// Removes the directory when the process that made it ends.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = fs::temp_directory_path() / "xlaprof-hostile-XXXXXX";
    XP_CHECK(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~ScratchFolder() {
    if (getpid() != owner_) return;
    std::error_code error;
    fs::remove_all(path_, error);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  pid_t owner_ = getpid();
};

// These tables hold facts. Columns that refer to rows of other tables, or hold an order, are left
// out.
constexpr const char* kFactTables[] = {
    "step",          "graph",         "graph_node",       "frame",    "site",
    "compile",       "execution",     "transfer",         "fallback", "untied_weight",
    "profiler_line", "compile_alarm", "dynamo_recompile", "metric",   "metric_percentile",
    "counter",       "event",         "loader_epoch"};

bool IsFactColumn(std::string_view name) {
  return name != "id" && !name.ends_with("_id") && name != "ordinal" && name != "depth" &&
         name != "flow_in" && name != "flow_out";
}

absl::Status AddFacts(const Store& store, const char* table,
                      std::vector<std::vector<std::string>>& rows) {
  XP_TRY(Statement statement, store.Prepare(fmt::format("SELECT * FROM {}", table)));
  while (true) {
    XP_TRY(bool there, statement.Step());
    if (!there) return absl::OkStatus();
    std::vector<std::string> row = {table};
    for (int i = 0; i < sqlite3_column_count(statement.get()); ++i) {
      const char* name = sqlite3_column_name(statement.get(), i);
      if (!IsFactColumn(name) || statement.IsNull(i)) continue;
      row.push_back(fmt::format("{}={}", name, statement.Column<std::string_view>(i)));
    }
    rows.push_back(std::move(row));
  }
}

}  // namespace

const fs::path& Scratch() {
  static const ScratchFolder folder;
  return folder.path();
}

std::string CheckShown(std::string_view what, std::string_view text) {
  if (text.size() > kLongestReportBytes) return fmt::format("{} of {} bytes", what, text.size());
  size_t valid = ValidUtf8Prefix(text);
  if (valid != text.size()) return fmt::format("{}: no UTF-8 at byte {}", what, valid);
  for (size_t i = 0; i < text.size(); ++i) {
    const uint8_t c = uint8_t(text[i]);
    const bool c1 = c == 0xc2 && uint8_t(text[i + 1]) < 0xa0;
    if ((c < 0x20 && c != '\n') || c == 0x7f || c1)
      return fmt::format("{}: control character {:#x} at byte {}", what, c, i);
  }
  return "";
}

std::string CheckReports(const Store& store) {
  auto report = MakeReport(xlaprof::Run(store));
  if (!report.ok()) return fmt::format("no report: {}", report.status().ToString());
  ReportOptions options;
  options.all = true;
  for (int width : {100, 40}) {
    options.width = width;
    if (std::string bad = CheckShown("text report", ReportText(*report, options)); !bad.empty())
      return bad;
  }
  if (std::string bad = CheckShown("Markdown report", ReportMarkdown(*report, options));
      !bad.empty())
    return bad;
  const std::string json = ReportJson(*report);
  if (std::string bad = CheckShown("JSON report", json.substr(0, kLongestReportBytes));
      !bad.empty() && json.size() <= kLongestReportBytes)
    return bad;
  if (json.size() > kLongestParsedJsonBytes || nlohmann::json::accept(json)) return "";
  return "the JSON report is not JSON";
}

std::string CheckError(const absl::Status& status, const fs::path& path) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kUnimplemented:
      break;
    default:
      return fmt::format("an input's fault is reported as another kind: {}", status.ToString());
  }
  std::string_view message = Message(status);
  const std::string name = path.filename().string();
  if (message.find(name) == message.npos && message.find(Printable(name)) == message.npos)
    return fmt::format("the error does not name the file: {}", message);
  auto has = [&](const char* word) { return message.find(word) != message.npos; };
  if (std::none_of(std::begin(kAdvice), std::end(kAdvice), has))
    return fmt::format("the error does not say what to try: {}", message);
  if (message.size() > kLongestErrorBytes + 2 * path.string().size())
    return fmt::format("an error of {} bytes: {}", message.size(), message.substr(0, 200));
  return "";
}

std::string CheckPath(const fs::path& path, const std::string& as_format, Imported* imported) {
  Imported ignored;
  Imported& out = imported != nullptr ? *imported : ignored;
  auto store = Store::CreateTemporary();
  if (!store.ok()) return store.status().ToString();
  out.status = Import({.inputs = {path}, .as_format = as_format}, *store);
  if (!out.status.ok()) return CheckError(out.status, path);
  auto issues = store->One<int64_t>("SELECT count(*) FROM import_issue");
  if (!issues.ok()) return issues.status().ToString();
  out.issues = issues->value_or(0);
  return CheckReports(*store);
}

std::string CheckBytes(std::string_view bytes, const std::string& as_format, Imported* imported) {
  const fs::path path = Scratch() / fmt::format("input.{}", getpid());
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
  return CheckPath(path, as_format, imported);
}

Facts ReadFacts(const Format& format, std::string_view bytes) {
  Facts facts;
  auto read = [&]() -> absl::Status {
    XP_TRY(Store store, Store::CreateTemporary());
    XP_TRY(store.Begin());
    EventWriter events(store);
    ImportContext context(store, events, 1);
    XP_TRY(format.Read({"given", bytes}, context, false));
    XP_TRY(events.Flush());
    XP_TRY(auto issues, store.One<int64_t>("SELECT count(*) FROM import_issue"));
    facts.imported.issues = issues.value_or(0);
    for (const char* table : kFactTables) XP_TRY(AddFacts(store, table, facts.rows));
    return absl::OkStatus();
  };
  facts.imported.status = read();
  std::sort(facts.rows.begin(), facts.rows.end());
  return facts;
}

}  // namespace xlaprof
