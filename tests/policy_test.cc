// Moves each threshold of analyzers/policy.h to both sides, and expects that what is concluded from
// a case of golden/ changes with it: the case brackets the threshold. Everything is analysed in
// this process, without a build for each threshold.
//
// policy_brackets.txt has a line for each threshold: its value, a smaller and a larger value, and
// the case that notices each. "said by" stands before a case whose claims stay, but whose report
// says something else: other numbers alone do not count there, because a report may print the
// threshold. A dash and a reason stand there if no case notices a value within half and twice the
// threshold, which is no excuse for a new threshold. XLAPROF_UPDATE_GOLDEN=1 keeps each case that
// still notices, and searches the nearest values for the others. That takes minutes, unless
// XLAPROF_POLICY_CASES is a regular expression that matches only the names of a few cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <sstream>

#include "analyzers/analyzer.h"
#include "analyzers/policy.h"
#include "analyzers/report/report.h"
#include "cli/input_options.h"
#include "tests/golden_file.h"

namespace xlaprof {

// A threshold to which a test gives another value for as long as it needs it.
class ThresholdOfTest {
 public:
  template <class T>
  ThresholdOfTest(std::string name, Threshold<T>& threshold)
      : name(std::move(name)),
        unit(threshold.unit),
        is_whole(std::is_integral_v<T>),
        value(double(T(threshold))),
        set_([&threshold](double to) { threshold.value_ = T(to); }) {}
  void Set(double to) const { set_(to); }
  void Reset() const { set_(value); }

  const std::string name;
  const Unit unit;
  const bool is_whole;
  const double value;

 private:
  std::function<void(double)> set_;
};

namespace {

namespace fs = std::filesystem;

const fs::path kBrackets = kGolden.parent_path() / "policy_brackets.txt";
// So many sides of thresholds have no case. The number may only become smaller.
constexpr size_t kMostWithoutCase = 33;
constexpr const char* kNoReason = "no case is near it yet";
constexpr std::string_view kSaidBy = "said by ";

const std::vector<ThresholdOfTest>& Thresholds() {
  static const auto* all = new std::vector<ThresholdOfTest>{
#define XLAPROF_THRESHOLD(name) {#name, policy::name},
#include "tests/policy_names.inc"
#undef XLAPROF_THRESHOLD
  };
  return *all;
}

// Returns what a golden case claims (tests/conclusions_test.cc), in a form that is only compared.
std::string ClaimsOf(const Store& store) {
  Run run(store);
  const absl::StatusOr<Findings> findings = Analyze(run);
  if (!findings.ok()) return std::string(findings.status().message());
  std::string claims;
  for (const Finding& finding : *findings) {
    const Subject& at = finding.subject;
    const auto cost = finding.cost_interval_ns.value_or(std::pair<int64_t, int64_t>(-1, -1));
    const auto saving = finding.saving_interval_ns.value_or(std::pair<int64_t, int64_t>(-1, -1));
    claims +=
        fmt::format("{} {} {}:{} {} {} {} {} {} {} {}", TextOf(finding.severity), finding.kind(),
                    at.file.value_or(""), at.line.value_or(0), at.function.value_or(""),
                    at.scope.value_or(""), at.op.value_or(""), finding.count.value_or(-1),
                    finding.cost_ns.value_or(-1), finding.saving_ns.value_or(-1),
                    finding.because_of);
    claims += fmt::format(" {} {} {} {}", cost.first, cost.second, saving.first, saving.second);
    if (finding.reason) {
      claims += fmt::format(
          " {} {} {}", TextOf(finding.reason->type),
          finding.reason->state ? TextOf(*finding.reason->state) : "",
          finding.reason->step.value_or(-1));
    }
    claims += '\n';
  }
  return claims;
}

// Returns the report on a case without its numbers, in a form that is only compared.
std::string SaidOf(const Store& store) {
  const absl::StatusOr<Report> report = MakeReport(Run(store));
  if (!report.ok()) return std::string(report.status().message());
  std::string text = ReportText(*report, {.width = 100'000, .all = true});
  std::erase_if(text, [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == ' '; });
  return text;
}

struct Case {
  std::string name;
  Store store;
  std::string claims;
  std::optional<std::string> said;  // set when it is needed
};

// Returns the case with a store of it, unless it cannot be read.
std::optional<Case> Load(const GoldenCase& golden) {
  std::optional<Case> loaded;
  const auto take = [&](Store& store) -> absl::Status {
    std::string claims = ClaimsOf(store);
    loaded = Case{golden.FullName(), std::move(store), std::move(claims), std::nullopt};
    return absl::OkStatus();
  };
  if (golden.HasRows()) {
    Store store = golden.MakeStore().value();
    EXPECT_TRUE(take(store).ok());
  } else {
    InputOptions input{.paths = {}, .run = {}, .as_format = {}};
    for (const auto& entry : fs::directory_iterator(golden.path))
      input.paths.push_back(entry.path());
    std::ranges::sort(input.paths);
    (void)WithInput(input, take);
  }
  return loaded;
}

// The cases that were loaded so far.
class Cases {
 public:
  Cases() {
    for (GoldenCase& one : GoldenCases()) golden_.emplace(one.FullName(), std::move(one));
  }
  const std::map<std::string, GoldenCase>& golden() const { return golden_; }
  // Returns null if there is no case of this full name, or if it cannot be read.
  Case* Get(const std::string& name) {
    const auto [at, is_new] = cases_.try_emplace(name);
    if (const auto golden = golden_.find(name); is_new && golden != golden_.end())
      at->second = Load(golden->second);
    return at->second ? &*at->second : nullptr;
  }

 private:
  std::map<std::string, GoldenCase> golden_;
  std::map<std::string, std::optional<Case>> cases_;
};

// The value of a threshold on one side that changes what a case claims.
struct Side {
  double value = 0;
  std::string by;        // the case; "" if there is none
  bool is_said = false;  // only its report changes
  std::string reason;    // why there is none
};
struct Bracket {
  double value = 0;
  Side below, above;
};

// Lines are "NAME VALUE | VALUE CASE | VALUE said by CASE", with "- REASON" for a side that no case
// notices.
std::string TextOf(const std::string& name, const Bracket& bracket) {
  const auto side = [](const Side& side) {
    return side.by.empty()
               ? "- " + side.reason
               : fmt::format("{} {}{}", side.value, side.is_said ? kSaidBy : "", side.by);
  };
  return fmt::format("{} {:g} | {} | {}\n", name, bracket.value, side(bracket.below),
                     side(bracket.above));
}

std::map<std::string, Bracket> ReadBrackets() {
  std::map<std::string, Bracket> brackets;
  std::istringstream lines(ReadFile(kBrackets));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream parts(line);
    std::string name, bar;
    Bracket bracket;
    parts >> name >> bracket.value >> bar;
    for (Side* side : {&bracket.below, &bracket.above}) {
      std::string text, first;
      std::getline(parts, text, '|');
      std::istringstream words(text);
      words >> first >> std::ws;
      std::string rest;
      std::getline(words, rest);
      while (rest.ends_with(' ')) rest.pop_back();
      if (first == "-") {
        side->reason = rest;
      } else {
        side->value = std::strtod(first.c_str(), nullptr);
        side->is_said = rest.starts_with(kSaidBy);
        side->by = rest.substr(side->is_said ? kSaidBy.size() : 0);
      }
    }
    brackets[name] = bracket;
  }
  return brackets;
}

bool Notices(const ThresholdOfTest& threshold, double to, Case& by, bool is_said) {
  if (is_said && !by.said) by.said = SaidOf(by.store);
  threshold.Set(to);
  const bool notices = is_said ? SaidOf(by.store) != *by.said : ClaimsOf(by.store) != by.claims;
  threshold.Reset();
  return notices;
}

// Returns values on one side of the threshold, the nearest first.
std::vector<double> Moves(const ThresholdOfTest& threshold, bool up) {
  std::vector<double> moves;
  for (const double factor : {1.02, 1.1, 1.25, 1.5, 2.0}) {
    double to = up ? threshold.value * factor : threshold.value / factor;
    if (threshold.is_whole) to = up ? std::ceil(to) : std::floor(to);
    if (threshold.unit == Unit::kShare && to > 1) continue;
    if (to != threshold.value && (moves.empty() || moves.back() != to)) moves.push_back(to);
  }
  return moves;
}

Side Search(const ThresholdOfTest& threshold, bool up, std::span<Case* const> cases) {
  const std::vector<double> moves = Moves(threshold, up);
  if (moves.empty()) return {};
  for (const bool is_said : {false, true}) {
    std::vector<Case*> noticing;  // what a near move changes, a far one changes, too
    for (Case* one : cases) {
      if (Notices(threshold, moves.back(), *one, is_said)) noticing.push_back(one);
    }
    for (const double to : moves) {
      for (Case* one : noticing) {
        if (Notices(threshold, to, *one, is_said))
          return {.value = to, .by = one->name, .is_said = is_said, .reason = ""};
      }
    }
  }
  return {};
}

// Returns the cases to search that are fast to analyse, those of one thing first.
std::vector<Case*> AllCases(Cases& cases) {
  std::vector<std::string> names;
  const char* const only = std::getenv("XLAPROF_POLICY_CASES");
  const std::regex searched(only != nullptr ? only : "");
  for (const auto& [name, golden] : cases.golden()) {
    if (golden.suite != "plans" && golden.suite != "errors" && std::regex_search(name, searched))
      names.push_back(name);
  }
  std::ranges::sort(names, {}, [](const std::string& name) {
    return std::pair(name.find("/just_") == name.npos, name);
  });
  std::vector<Case*> all;
  for (const std::string& name : names) {
    Case* one = cases.Get(name);
    if (one != nullptr && *one->store.One<int64_t>("SELECT total(count) < 20000 FROM event_chunk"))
      all.push_back(one);
  }
  return all;
}

void Update(std::map<std::string, Bracket> before) {
  Cases cases;
  const std::vector<Case*> all = AllCases(cases);
  std::string text;
  for (const ThresholdOfTest& threshold : Thresholds()) {
    Bracket bracket{.value = threshold.value, .below = {}, .above = {}};
    for (const bool up : {false, true}) {
      Side& side = up ? bracket.above : bracket.below;
      const Side& old = up ? before[threshold.name].above : before[threshold.name].below;
      Case* const by = old.by.empty() ? nullptr : cases.Get(old.by);
      const bool is_kept = by != nullptr && (old.value > threshold.value) == up &&
                           Notices(threshold, old.value, *by, old.is_said);
      side = is_kept ? old : Search(threshold, up, all);
      if (side.by.empty()) side.reason = old.reason.empty() ? kNoReason : old.reason;
    }
    text += TextOf(threshold.name, bracket);
    ExpectFile(kBrackets, text);
  }
}

TEST(Policy, EachThresholdIsBracketedByCases) {
  std::map<std::string, Bracket> brackets = ReadBrackets();
  if (std::getenv("XLAPROF_UPDATE_GOLDEN") != nullptr) return Update(std::move(brackets));
  Cases cases;
  size_t without = 0;
  for (const ThresholdOfTest& threshold : Thresholds()) {
    const auto at = brackets.find(threshold.name);
    ASSERT_NE(at, brackets.end())
        << threshold.name << " has no line in " << kBrackets
        << ". Add a case on each side of it, and run policy_tests with XLAPROF_UPDATE_GOLDEN=1";
    EXPECT_NEAR(at->second.value, threshold.value, 1e-5 * threshold.value) << threshold.name;
    for (const Side* side : {&at->second.below, &at->second.above}) {
      if (side->by.empty()) {
        EXPECT_FALSE(side->reason.empty()) << threshold.name;
        ++without;
        continue;
      }
      Case* by = cases.Get(side->by);
      ASSERT_NE(by, nullptr) << side->by;
      EXPECT_TRUE(Notices(threshold, side->value, *by, side->is_said))
          << side->by << " does not notice that " << threshold.name << " is " << side->value;
    }
    brackets.erase(at);
  }
  for (const auto& [name, bracket] : brackets) ADD_FAILURE() << name << " is no threshold";
  EXPECT_LE(without, kMostWithoutCase);
}

}  // namespace
}  // namespace xlaprof
