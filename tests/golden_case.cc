#include "tests/golden_case.h"

#include <absl/strings/str_split.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "profiler/store/sql_script.h"
#include "tests/read_file.h"

namespace xlaprof {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCaseLine = "-- case ";

using Values = std::map<std::string, std::string, std::less<>>;

[[noreturn]] void End(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::abort();
}

bool IsWord(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Returns the text with each {word} replaced by its value.
absl::StatusOr<std::string> Filled(std::string_view text, const Values& values) {
  std::string filled;
  std::set<std::string_view> used;
  while (!text.empty()) {
    const size_t open = text.find('{'), close = text.find('}', open);
    const std::string_view word =
        close == text.npos ? "" : text.substr(open + 1, close - open - 1);
    if (!IsWord(word) || (word[0] >= '0' && word[0] <= '9')) {  // such as an HLO shape's {1,0}
      filled += text.substr(0, open == text.npos ? open : open + 1);
      text.remove_prefix(open == text.npos ? text.size() : open + 1);
      continue;
    }
    const auto value = values.find(word);
    if (value == values.end())
      return Invalid("{{{}}} has no value", word);
    used.insert(value->first);
    filled.append(text.substr(0, open)).append(value->second);
    text.remove_prefix(close + 1);
  }
  for (const auto& [word, value] : values) {
    if (!used.contains(word))
      return Invalid("{}={} is not used", word, value);
  }
  return filled;
}

}  // namespace

std::vector<std::string> GoldenCase::Files() const {
  std::vector<std::string> files;
  if (HasRows()) return files;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), path).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

absl::StatusOr<Store> GoldenCase::MakeStore() const {
  XP_TRY(Store store, Store::CreateTemporary());
  XP_TRY(RunSqlScript(store, rows));
  return store;
}

absl::StatusOr<Store> GoldenCase::MakeStore(const fs::path& at) const {
  XP_TRY(Store store, Store::Create(at));
  XP_TRY(RunSqlScript(store, rows));
  return store;
}

absl::StatusOr<std::vector<GoldenCase>> CasesOfRows(std::string_view name, std::string_view text) {
  std::vector<std::pair<std::string, Values>> heads;
  std::set<std::string, std::less<>> names;
  while (text.starts_with(kCaseLine)) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::vector<std::string> words =
        absl::StrSplit(std::string(line.substr(kCaseLine.size())), ' ', absl::SkipEmpty());
    if (words.empty() || !names.insert(words[0]).second)
      return Invalid("{}: no name, or that of another case", line);
    Values values;
    for (size_t i = 1; i < words.size(); ++i) {
      const std::pair<std::string, std::string> value =
          absl::StrSplit(words[i], absl::MaxSplits('=', 1));
      if (!IsWord(value.first) || value.second.empty() || !values.insert(value).second)
        return Invalid("{}: {} is no NAME=VALUE", line, words[i]);
    }
    heads.emplace_back(words[0], std::move(values));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  if (heads.empty()) heads.emplace_back(name, Values());
  std::vector<GoldenCase> cases;
  for (const auto& [of_case, values] : heads) {
    const absl::StatusOr<std::string> rows = Filled(text, values);
    if (!rows.ok()) return Invalid("{}: {}", of_case, Message(rows.status()));
    cases.push_back({.suite = {}, .name = of_case, .path = {}, .rows = *rows});
  }
  return cases;
}

std::vector<GoldenCase> CasesIn(const fs::path& suite) {
  std::vector<GoldenCase> all;
  for (const auto& entry : fs::directory_iterator(suite)) {
    std::vector<GoldenCase> cases;
    if (entry.is_directory()) {
      const std::string name = entry.path().filename().string();
      cases.push_back({.suite = {}, .name = name, .path = {}, .rows = {}});
    } else if (entry.path().extension() == ".sql") {
      auto of_rows = CasesOfRows(entry.path().stem().string(), ReadFile(entry.path()));
      if (!of_rows.ok())
        End(fmt::format("{}: {}", entry.path().string(), Message(of_rows.status())));
      cases = *std::move(of_rows);
    }
    for (GoldenCase& one : cases) {
      one.suite = suite.filename().string();
      one.path = entry.path();
      all.push_back(std::move(one));
    }
  }
  std::ranges::sort(all, {}, &GoldenCase::name);
  const auto same = std::ranges::adjacent_find(all, {}, &GoldenCase::name);
  if (same != all.end()) End(fmt::format("two cases are called {}", same->FullName()));
  return all;
}

std::vector<GoldenCase> GoldenCases() {
  std::vector<fs::path> suites;
  for (const auto& entry : fs::directory_iterator(kGolden)) {
    if (entry.is_directory()) suites.push_back(entry.path());
  }
  std::sort(suites.begin(), suites.end());
  std::vector<GoldenCase> all;
  for (const fs::path& suite : suites) {
    for (GoldenCase& one : CasesIn(suite)) all.push_back(std::move(one));
  }
  return all;
}

GoldenCase FindGoldenCase(std::string_view full_name) {
  const std::string_view suite = full_name.substr(0, full_name.find('/'));
  for (GoldenCase& one : CasesIn(kGolden / suite)) {
    if (one.FullName() == full_name) return std::move(one);
  }
  End(fmt::format("tests/golden has no case {}", full_name));
}

}  // namespace xlaprof
