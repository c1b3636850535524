#include "analyzers/recompile/outside_jit.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyzers/policy.h"
#include "analyzers/run/graph_nodes.h"
#include "analyzers/run/jax_operation.h"
#include "analyzers/run/user_code.h"
#include "base/source_place.h"

namespace xlaprof {
namespace {

constexpr size_t kMaxNamed = 3;   // operations that are named
constexpr size_t kMaxPlaces = 6;  // lines that are named
constexpr size_t kMaxRows = 32;   // rows that a place cites

struct Sum {
  int64_t count = 0, ns = 0, ns_inside = 0;  // ns_inside: inside the profile's window
  std::vector<int64_t> rows;
  void Add(const CompileFact& compile) {
    ++count;
    ns += compile.compiling_ns();
    if (compile.ts_ns) ns_inside += compile.compiling_ns();
    if (rows.size() < kMaxRows) rows.push_back(compile.id);
  }
};

// Returns the sums, the most expensive first. Without times, those with most programs are first.
template <class Key>
std::vector<std::pair<Key, Sum>> Dearest(const std::map<Key, Sum>& sums) {
  std::vector<std::pair<Key, Sum>> out(sums.begin(), sums.end());
  std::ranges::stable_sort(out, std::greater(), [](const auto& one) {
    return std::pair(one.second.ns, one.second.count);
  });
  return out;
}

OperationCounts CountsOf(const std::map<std::string, Sum>& by_name) {
  OperationCounts counts;
  const auto sorted = Dearest(by_name);
  for (size_t i = 0; i < std::min(kMaxNamed, sorted.size()); ++i)
    counts.most.emplace_back(NameForReaders(sorted[i].first), sorted[i].second.count);
  counts.others = sorted.size() - counts.most.size();
  return counts;
}

// Returns whether the program comes from several lines. JAX compiles an operation for one line, but
// a function has several lines.
absl::StatusOr<bool> HasSeveralLines(const Run& run, const CompileFact& compile) {
  for (const auto& [form, graph_id] : compile.forms) {
    XP_TRY(const int64_t lines, CountLocations(run, graph_id));
    if (lines > 1) return true;
  }
  return false;
}

// Returns whether this is a function of the user's with the name of an operation.
absl::StatusOr<bool> IsUserFunction(const Run& run, const CompileFact& compile) {
  if (compile.cause == CutKind::kOperation || IsJaxResharding(compile.function)) return false;
  if (compile.caller_known) return true;  // JAX explains no compiles of operations
  // A loop has the lines and the inputs of its body.
  if (IsJaxLoop(compile.function)) return false;
  if (compile.input_count > policy::kOperationInputs && !HasManyInputs(compile.function))
    return true;
  return HasSeveralLines(run, compile);
}

// Returns whether JAX has a function with this name that it compiles for itself: an operation, `stage`, or
// a name that begins with _, except for the name that it gives <lambda>.
bool IsNameOfJax(const std::string& function) {
  return (function.starts_with('_') && !function.starts_with("_lambda")) || function == "stage" ||
         !JaxOperationOf(function).empty();
}

// Returns the ordinal of the first compile of a jitted function of the user's, or 0.
int64_t FirstJitted(const CompileSites& facts, int64_t process_id) {
  const bool explains = facts.explained.contains(process_id);
  int64_t first = INT64_MAX;
  for (const CompileSite& site : facts.sites) {
    if (site.process_id != process_id || site.cause != CutKind::kCall) continue;
    if (!explains && IsNameOfJax(site.function)) continue;
    for (const CompileFact& compile : site.compiles) {
      if (!explains || compile.caller_known) first = std::min(first, compile.ordinal);
    }
  }
  return first == INT64_MAX ? 0 : first;
}

// Finds the line that called an operation. If the log does not say it, the graph may show it.
class Places {
 public:
  static absl::StatusOr<Places> Make(const Run& run, const CompileSites& facts) {
    Places places(run, facts);
    XP_TRY(places.code_, run.Get<UserCode>());
    return places;
  }
  absl::StatusOr<SourcePlace> Of(const CompileFact& compile) const {
    if (compile.site_id) {
      const auto place = facts_.places.find(*compile.site_id);
      if (place != facts_.places.end() && !place->second.file.empty()) return place->second;
    }
    for (const auto& [form, graph_id] : compile.forms) {
      XP_TRY(const OptText text, LocationOfResult(run_, graph_id));
      if (!text) continue;
      if (SourcePlace place = code_->Of(*text); !place.empty()) return place;
    }
    return SourcePlace();
  }

 private:
  Places(const Run& run, const CompileSites& facts) : run_(run), facts_(facts) {}
  const Run& run_;
  const CompileSites& facts_;
  const UserCode* code_ = nullptr;
};

struct Called {
  Sum all;
  std::map<std::string, Sum> operations, loops;  // by name
  std::map<std::string, Sum> by_place;
  std::map<std::string, SourcePlace> places;
  bool at_start = false, explained = false;

  void Add(const CompileFact& compile, const SourcePlace& place) {
    all.Add(compile);
    (IsJaxLoop(compile.function) ? loops : operations)[compile.function].Add(compile);
    if (place.file.empty()) return;
    const std::string key = place.text();
    by_place[key].Add(compile);
    places.try_emplace(key, place);
  }
};

bool IsDear(const Called& called, OptInt wall_ns, int64_t compiling_ns) {
  auto dear = [](int64_t ns, int64_t of_ns) {
    return ns >= policy::kDearCompilingNs &&
           double(ns) >= policy::kDearCompilingShare * double(of_ns);
  };
  if (wall_ns.value_or(0) > 0 && called.all.ns_inside > 0)
    return dear(called.all.ns_inside, *wall_ns);
  return dear(called.all.ns, compiling_ns);
}

// Returns whether the programs outside of jit are many and most of all, if no source times them.
bool IsMostOfAll(const Called& called, int64_t compiles, int64_t compiling_ns) {
  return compiling_ns == 0 && called.all.count >= policy::kManyUnpricedOperations &&
         double(called.all.count) > policy::kMostPrograms * double(compiles);
}

// Returns how many compiles of a process are in the chosen part, inside and outside of jit.
int64_t CountCompiles(const CompileSites& facts, int64_t process_id) {
  auto in_slice = [](const std::vector<CompileFact>& compiles) {
    return int64_t(std::ranges::count(compiles, true, &CompileFact::in_slice));
  };
  int64_t count = 0;
  if (const auto at = facts.operations.find(process_id); at != facts.operations.end())
    count += in_slice(at->second);
  for (const CompileSite& site : facts.sites)
    count += site.process_id == process_id ? in_slice(site.compiles) : 0;
  return count;
}

Finding FindingOf(const Called& called, bool dear) {
  const Sum& all = called.all;
  Finding finding{
      .needs_fixing = dear, .count = all.count, .reason = Reason{.type = ReasonType::kOutsideJit}};
  if (all.ns > 0) finding.cost_ns = all.ns;
  if (called.at_start) finding.reason->state = State::kWarmUp;
  OutsideJitFigures figures{.operations = CountsOf(called.operations),
                            .loops = CountsOf(called.loops),
                            .at_start = called.at_start,
                            .explained = called.explained};
  for (const auto& [name, sum] : called.loops) figures.loop_programs += sum.count;
  figures.all_resharding =
      called.loops.empty() && std::ranges::all_of(called.operations, [](const auto& operation) {
        return IsJaxResharding(operation.first);
      });
  const auto sorted = Dearest(called.by_place);
  for (size_t i = 0; i < std::min(kMaxPlaces, sorted.size()); ++i) {
    const auto& [key, sum] = sorted[i];
    figures.lines.push_back({called.places.at(key), sum.count, sum.ns});
    figures.evidence.emplace_back(figures.lines.back());
    finding.evidence.push_back({.table = "compile", .rows = sum.rows});
  }
  if (sorted.empty()) {
    figures.evidence.emplace_back(figures.operations);
    finding.evidence.push_back({.table = "compile", .rows = all.rows});
  } else {
    const SourcePlace& place = figures.lines.front().place;
    finding.subject = {.file = place.file, .line = place.line};
    if (!place.function.empty()) finding.subject.function = place.function;
  }
  finding.figures = std::move(figures);
  return finding;
}

}  // namespace

absl::StatusOr<std::vector<CompileFact>> TakeOperations(const Run& run,
                                                        std::vector<CompileFact>& compiles) {
  std::map<int64_t, std::set<std::string>> sure;  // by process
  std::set<int64_t> explained;                    // processes whose log has JAX's explanations
  for (const CompileFact& compile : compiles) {
    if (compile.cause == CutKind::kOperation ||
        (compile.cause == CutKind::kCall && !JaxOperationOf(compile.function).empty()))
      sure[compile.process_id].insert(compile.function);
    if (compile.caller_known) explained.insert(compile.process_id);
  }
  // JAX explains the compiles of the user's functions.
  auto is_of_jax = [&](const CompileFact& compile) {
    return compile.cause == CutKind::kCall && !IsJaxLoop(compile.function) &&
           explained.contains(compile.process_id) && IsNameOfJax(compile.function);
  };
  std::map<std::pair<int64_t, std::string>, int64_t> times;  // by process and name
  for (const CompileFact& compile : compiles) ++times[{compile.process_id, compile.function}];
  std::map<std::tuple<int64_t, std::string, int64_t>, int64_t> loops;  // by process, name and line
  auto loop_of = [](const CompileFact& compile) {
    return std::tuple(compile.process_id, compile.function, compile.loop_number());
  };
  for (const CompileFact& compile : compiles) {
    if (IsJaxLoop(compile.function)) ++loops[loop_of(compile)];
  }
  auto has_its_name = [&](const CompileFact& compile) {
    const auto names = sure.find(compile.process_id);
    if (names == sure.end() ||
        (compile.cause != CutKind::kOperation && compile.cause != CutKind::kCall))
      return false;
    const bool is_loop = IsJaxLoop(compile.function);
    if (is_loop && loops.at(loop_of(compile)) > policy::kRepeatedLoop) return false;
    return names->second.contains(compile.function) ||
           (int64_t(names->second.size()) >= policy::kSureOperationNames &&
            (is_loop || IsShortJaxOperation(compile.function)));
  };
  std::set<int64_t> operations;
  std::map<int64_t, int64_t> counts;
  for (const CompileFact& compile : compiles) {
    if ((!has_its_name(compile) && !is_of_jax(compile)) || compile.is_loaded()) continue;
    XP_TRY(bool of_user, IsUserFunction(run, compile));
    if (of_user) continue;
    operations.insert(compile.id);
    ++counts[compile.process_id];
  }
  auto stays = [&](const CompileFact& compile) {
    const bool few = counts[compile.process_id] < policy::kManyOperations;
    // A few are not told of, but what JAX compiles for itself is no recompilation either.
    const bool is_again =
        is_of_jax(compile) && times.at({compile.process_id, compile.function}) > 1;
    return !operations.contains(compile.id) ||
           (few && !IsJaxResharding(compile.function) && !is_again);
  };
  const auto rest = std::stable_partition(compiles.begin(), compiles.end(), stays);
  std::vector<CompileFact> out(std::make_move_iterator(rest),
                               std::make_move_iterator(compiles.end()));
  compiles.erase(rest, compiles.end());
  return out;
}

absl::StatusOr<std::vector<std::pair<int64_t, Finding>>> OutsideJit(const Run& run,
                                                                    const CompileSites& facts) {
  std::vector<std::pair<int64_t, Finding>> findings;
  if (facts.operations.empty()) return findings;
  XP_TRY(const Places places, Places::Make(run, facts));
  for (const auto& [process_id, operations] : facts.operations) {
    const int64_t first_jitted = FirstJitted(facts, process_id);
    Called in_run, at_start{.at_start = true}, both;
    in_run.explained = facts.explained.contains(process_id);
    for (const CompileFact& compile : operations) {
      if (!compile.in_slice) continue;
      XP_TRY(const SourcePlace place, places.Of(compile));
      (compile.ordinal < first_jitted ? at_start : in_run).Add(compile, place);
      both.Add(compile, place);
    }
    both.explained = in_run.explained;
    const OptInt wall_ns = facts.wall_ns.at(process_id);
    const int64_t compiling_ns = facts.compiling_ns.at(process_id);
    const bool dear = IsDear(in_run, wall_ns, compiling_ns) ||
                      IsMostOfAll(in_run, CountCompiles(facts, process_id), compiling_ns);
    if (dear || in_run.all.count >= policy::kManyOperations) {
      findings.emplace_back(process_id, FindingOf(in_run, dear));
      if (at_start.all.count > 0) findings.emplace_back(process_id, FindingOf(at_start, false));
    } else if (both.all.count > 0) {
      findings.emplace_back(process_id, FindingOf(in_run.all.count > 0 ? both : at_start, false));
    }
  }
  return findings;
}

}  // namespace xlaprof
