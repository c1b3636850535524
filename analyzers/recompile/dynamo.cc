#include "analyzers/recompile/dynamo.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzers/policy.h"
#include "analyzers/run/tables.h"

namespace xlaprof {
namespace {

constexpr size_t kMostRecompileRows = 32;  // rows that a finding cites

// Holds what the log reports about one function.
struct FunctionRecompiles {
  std::vector<int64_t> rows;
  int64_t recompiles = 0;    // lines about single recompilations, or the number in their ids
  OptInt programs, site_id;  // programs: the limit that was reached
  std::string reason;
};

// Returns the values of "… size mismatch at index 0. expected 24, actual 31".
std::pair<std::string, std::string> ExpectedAndActual(std::string_view reason) {
  constexpr std::string_view kExpected = "expected ", kActual = ", actual ";
  const size_t actual = reason.rfind(kActual), expected = reason.rfind(kExpected, actual);
  if (actual == std::string_view::npos || expected == std::string_view::npos) return {};
  const size_t from = expected + kExpected.size();
  std::string_view after = reason.substr(actual + kActual.size());
  after = after.substr(0, after.find_first_of(" #,;"));
  if (after.ends_with('.')) after.remove_suffix(1);  // more sentences follow
  return {std::string(reason.substr(from, actual - from)), std::string(after)};
}

// Returns the value of a check that compares something with a number, such as "L['steps'] == 20" or
// "len(L['layers']) == 26"; "" for other checks.
std::string ComparedNumber(std::string_view check) {
  const size_t equals = check.find(" == ");
  if (equals == check.npos) return "";
  std::string_view value = check.substr(equals + 4);
  value = value.substr(0, value.find_first_of(" #,;"));
  const bool is_number = !value.empty() && value.find_first_not_of("-0123456789.e") == value.npos;
  return is_number ? std::string(value) : "";
}

// Returns the reason of which the text is certain. Everything else is told as it was printed.
Reason ReasonOf(const std::string& text) {
  Reason reason{.type = ReasonType::kUnknown, .state = State::kUnknown};
  const bool is_size = text.find("size mismatch") != std::string::npos;
  const bool is_dtype = text.find("dtype mismatch") != std::string::npos;
  if (std::string number = ComparedNumber(text); !number.empty()) {
    reason.type = ReasonType::kConstantChange;
    reason.before = std::move(number);
  }
  if (!is_size && !is_dtype) return reason;
  reason.type = is_size ? ReasonType::kShapeChange : ReasonType::kDtypeChange;
  auto [before, after] = ExpectedAndActual(text);
  if (!before.empty()) reason.before = std::move(before), reason.after = std::move(after);
  return reason;
}

}  // namespace

absl::StatusOr<Findings> FromDynamo(const Run& run) {
  XP_TRY(const auto* rows, run.Get<Table<DynamoRecompileRow>>());
  XP_TRY(const Sites* sites, run.Get<Sites>());
  std::map<std::tuple<std::string, OptInt>, FunctionRecompiles> functions;
  // TORCH_TRACE knows more of the same recompilations.
  XP_TRY(const Compiles* compiles, run.Get<Compiles>());
  const bool is_traced = std::ranges::any_of(compiles->rows, [](const CompileRow& row) {
    return row.cause == CutKind::kCompiledFunction;
  });
  if (is_traced) return Findings();
  for (const DynamoRecompileRow& row : rows->rows) {
    FunctionRecompiles& function = functions[{row.function, row.site_id}];
    if (function.rows.size() < kMostRecompileRows) function.rows.push_back(row.id);
    if (!row.programs)
      function.recompiles = std::max(function.recompiles + 1, row.earlier.value_or(0));
    if (row.programs) function.programs = std::max(function.programs.value_or(0), *row.programs);
    function.site_id = row.site_id;
    if (row.reason) function.reason = *row.reason;
  }
  Findings findings;
  for (const auto& [key, function] : functions) {
    Finding finding{.subject = sites->SubjectOf(function.site_id)};
    finding.subject.function = std::get<0>(key);
    // The limit counts programs, of which the first is no recompilation. At the limit, the log has a
    // line about one more, which is not made.
    finding.count = function.programs ? *function.programs - 1 : function.recompiles;
    if (function.programs || *finding.count > policy::kFewRecompiles) finding.needs_fixing = true;
    finding.reason = ReasonOf(function.reason);
    finding.evidence = {{.table = "dynamo_recompile", .rows = function.rows}};
    finding.figures = DynamoFigures{
        .function = std::get<0>(key),
        .reason = function.reason,
        .is_parameter = function.reason.find("failed on a parameter") != std::string::npos};
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace xlaprof
