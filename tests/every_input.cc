#include "tests/every_input.h"

#include <algorithm>
#include <fstream>
#include <map>

#include "analyzers/report/report.h"
#include "profiler/store/sql_script.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kRegressions = kGolden.parent_path() / "fuzz/regressions";
constexpr std::string_view kRows = "capture.sql", kLayout = "layout.txt";
constexpr std::string_view kRegressionSuite = "fuzz_regressions";

// Returns 1234567 as "1,234,567".
std::string Grouped(int64_t value) {
  std::string digits = std::to_string(value);
  for (int at = int(digits.size()) - 3; at > (value < 0 ? 1 : 0); at -= 3)
    digits.insert(size_t(at), ",");
  return digits;
}

// Returns "name value" if there is a value.
std::string Figure(const char* name, const json& value) {
  if (value.is_null()) return "";
  return std::string("  ") + name + " " +
         (value.is_number_integer() ? Grouped(value.get<int64_t>()) : JsonText(value));
}

std::string ClaimsOf(const json& finding, const std::map<std::string, const json*>& findings) {
  std::string text = "  " + JsonText(finding["severity"]) + " " + NameOf(finding) + "\n";
  if (const std::string place = PlaceOf(finding["subject"]); !place.empty())
    text += "    at " + place + "\n";
  const std::string figures = Figure("count", finding["count"]) +
                              Figure("cost_ns", finding["cost_ns"]) +
                              Figure("saving_ns", finding["saving_ns"]);
  if (!figures.empty()) text += "  " + figures + "\n";
  if (const auto root = findings.find(JsonText(finding["because_of"])); root != findings.end()) {
    const std::string place = PlaceOf((*root->second)["subject"]);
    text +=
        "    because of " + NameOf(*root->second) + (place.empty() ? "" : " at " + place) + "\n";
  }
  return text;
}

bool IsInput(const fs::path& path) {
  const std::string name = path.filename().string();
  return !name.starts_with("expected") && name != "args" && name != kRows;
}

// Returns the files below `folder` as relative paths, in order.
std::vector<std::string> InputsOf(const fs::path& folder) {
  std::vector<std::string> inputs;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && IsInput(entry.path()))
      inputs.push_back(fs::relative(entry.path(), folder).string());
  }
  std::sort(inputs.begin(), inputs.end());
  return inputs;
}

// Makes the store of the rows in capture.sql and returns its name.
std::string MakeStore(const fs::path& rows, const fs::path& folder) {
  const fs::path path = folder / "capture.xlaprof";
  auto store = Store::Create(path);
  EXPECT_TRUE(store.ok()) << store.status();
  const absl::Status status = store.ok() ? RunSqlScript(*store, ReadFile(rows)) : store.status();
  EXPECT_TRUE(status.ok()) << rows << ": " << status;
  return path.filename().string();
}

}  // namespace

std::string JsonText(const json& value) {
  if (value.is_null()) return "-";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<fs::path> CasesOf(const std::string& suite) {
  const fs::path folder = suite == kRegressionSuite ? kRegressions : kGolden / suite;
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory() &&
        (fs::exists(entry.path() / kRows) || !InputsOf(entry.path()).empty()))
      cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

std::vector<std::string> Suites() {
  std::vector<std::string> suites = {std::string(kRegressionSuite)};
  for (const auto& suite : fs::directory_iterator(kGolden)) {
    const std::string name = suite.path().filename().string();
    if (suite.is_directory() && !CasesOf(name).empty()) suites.push_back(name);
  }
  std::sort(suites.begin(), suites.end());
  return suites;
}

bool IsLayout(const fs::path& of_case) { return fs::exists(of_case / kLayout); }

bool IsOfRows(const fs::path& of_case) { return fs::exists(of_case / kRows); }

std::vector<std::string> PutInputs(const fs::path& of_case) {
  const fs::path here = fs::current_path();
  const auto written = fs::file_time_type::clock::now() - std::chrono::hours(1);
  std::vector<std::string> inputs = InputsOf(of_case);
  for (const std::string& input : inputs) {
    fs::create_directories((here / input).parent_path());
    fs::copy_file(of_case / input, here / input);
    fs::last_write_time(here / input, written);
  }
  if (IsOfRows(of_case)) inputs.insert(inputs.begin(), MakeStore(of_case / kRows, here));
  return inputs;
}

json ReportOn(const InputOptions& input, const std::function<void(Store&)>& look) {
  std::string text;
  const absl::Status status = WithInput(input, [&](Store& store) -> absl::Status {
    Run run(store);
    XP_TRY(LetReadSources(SourceRoots(input, {}), run));
    XP_TRY(const xlaprof::Report report, MakeReport(run));
    text = ReportJson(report);
    if (look) look(store);
    return absl::OkStatus();
  });
  if (!status.ok()) return nullptr;
  json report = json::parse(text, nullptr, /*allow_exceptions=*/false);
  EXPECT_FALSE(report.is_discarded()) << text.substr(0, 200);
  return report;
}

std::string NameOf(const json& finding) {
  std::string name = JsonText(finding["kind"]);
  if (const json& reason = finding["reason"]; reason.is_object()) {
    name += " " + JsonText(reason["type"]);
    if (!reason["state"].is_null()) name += " " + JsonText(reason["state"]);
    if (!reason["step"].is_null()) name += " step " + JsonText(reason["step"]);
  }
  return name;
}

std::string PlaceOf(const json& subject) {
  std::string place;
  auto add = [&](const std::string& part) { place += (place.empty() ? "" : " ") + part; };
  if (!subject["function"].is_null()) add(JsonText(subject["function"]));
  if (!subject["file"].is_null()) {
    const std::string file = fs::path(JsonText(subject["file"])).filename().string();
    add(subject["line"].is_null() ? file : file + ":" + JsonText(subject["line"]));
  }
  for (const char* name : {"scope", "op"}) {
    if (!subject[name].is_null()) add(std::string(name) + " " + JsonText(subject[name]));
  }
  return place;
}

std::string Conclusions(const json& report) {
  if (report.is_null()) return "  exit status 2\n";
  std::string text;
  for (const json& issue : report["issues"]) {
    text += "  issue " + JsonText(issue["severity"]) + " " + JsonText(issue["code"]) + " of " +
            fs::path(JsonText(issue["path"])).filename().string() + Figure("count", issue["count"]) +
            "\n";
  }
  std::map<std::string, const json*> findings;  // by fingerprint
  for (const json& finding : report["findings"])
    findings.emplace(JsonText(finding["fingerprint"]), &finding);
  for (const json& finding : report["findings"]) text += ClaimsOf(finding, findings);
  return text.empty() ? "  nothing found\n" : text;
}

void InScratch(const std::function<void()>& use) {
  const fs::path before = fs::current_path();
  std::string scratch = (fs::temp_directory_path() / "xlaprof-inputs-XXXXXX").string();
  ASSERT_NE(mkdtemp(scratch.data()), nullptr);
  fs::current_path(scratch);
  use();
  fs::current_path(before);
  fs::remove_all(scratch);
}

}  // namespace xlaprof
