#include "tests/every_input.h"

#include <algorithm>
#include <fstream>
#include <map>


namespace xlaprof {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kRegressions = "fuzz_regressions";

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

}  // namespace

std::string JsonText(const json& value) {
  if (value.is_null()) return "-";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<GoldenCase> CasesOf(const std::string& suite) {
  return CasesIn(suite == kRegressions ? kGolden.parent_path() / "fuzz/regressions"
                                       : kGolden / suite);
}

std::vector<std::string> Suites() {
  std::vector<std::string> suites = {std::string(kRegressions)};
  for (const GoldenCase& one : GoldenCases()) {
    if (suites.back() != one.suite) suites.push_back(one.suite);
  }
  std::sort(suites.begin(), suites.end());
  return suites;
}

bool IsLayout(const GoldenCase& of_case) { return fs::exists(of_case.path / "layout.txt"); }

std::vector<std::string> PutInputs(const GoldenCase& of_case) {
  const fs::path here = fs::current_path();
  if (of_case.HasRows()) {
    const absl::StatusOr<Store> store = of_case.MakeStore(here / "capture.xlaprof");
    EXPECT_TRUE(store.ok()) << of_case.FullName() << ": " << store.status();
    return {"capture.xlaprof"};
  }
  const auto written = fs::file_time_type::clock::now() - std::chrono::hours(1);
  const std::vector<std::string> inputs = of_case.Files();
  for (const std::string& input : inputs) {
    fs::create_directories((here / input).parent_path());
    fs::copy_file(of_case.path / input, here / input);
    fs::last_write_time(here / input, written);
  }
  return inputs;
}

void ForEachCase(
    const std::function<void(const std::string& name, const std::vector<std::string>& files)>&
        use) {
  for (const std::string& suite : Suites()) {
    for (const GoldenCase& of_case : CasesOf(suite)) {
      if (IsLayout(of_case)) continue;
      InScratch([&] { use(suite + "/" + of_case.name, PutInputs(of_case)); });
    }
  }
}

bool WithReport(const InputOptions& input,
                const std::function<void(const Report& report, Store& store)>& use) {
  const absl::Status status = WithInput(input, [&](Store& store) -> absl::Status {
    Run run(store);
    XP_TRY(LetReadSources(SourceRoots(input, {}), run));
    XP_TRY(const Report report, MakeReport(run));
    use(report, store);
    return absl::OkStatus();
  });
  return status.ok();
}

json ReportOn(const InputOptions& input, const std::function<void(Store&)>& look) {
  std::string text;
  const auto take = [&](const Report& report, Store& store) {
    text = ReportJson(report);
    if (look) look(store);
  };
  if (!WithReport(input, take)) return nullptr;
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
