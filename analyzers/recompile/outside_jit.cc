#include "analyzers/recompile/outside_jit.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyzers/evidence/jax_operation.h"
#include "analyzers/graph/user_code.h"
#include "analyzers/quantity.h"
#include "core/base/source_place.h"

namespace xlaprof {
namespace {

constexpr size_t kMany = 10;      // programs: fewer are what a clean start makes
constexpr size_t kSureNames = 2;  // so many make short names, such as add, JAX's too
constexpr int64_t kDearNs = 1'000'000'000;
constexpr double kDearShare = 0.1;  // of the run, or of all compiling where its length is not known
constexpr int64_t kFewTimes = 2;    // the same operation at one line
constexpr size_t kMaxNamed = 3;     // operations in the title
constexpr size_t kMaxPlaces = 6;    // in the evidence
constexpr size_t kMaxRows = 32;     // that a place cites
constexpr int64_t kMostInputs = 4;  // of an operation, but for those that take any number

struct Sum {
  int64_t count = 0, ns = 0, ns_inside = 0;  // inside the profile's window
  std::map<std::string, int64_t> times;      // of each operation
  std::vector<int64_t> rows;
  void Add(const CompileFact& compile) {
    ++count;
    ++times[compile.function];
    ns += compile.compiling_ns();
    if (compile.ts_ns) ns_inside += compile.compiling_ns();
    if (rows.size() < kMaxRows) rows.push_back(compile.id);
  }
  // What comes again and again is in a loop; a start makes each program once or twice.
  bool repeats() const {
    return std::ranges::any_of(times, [](const auto& one) { return one.second > kFewTimes; });
  }
};

template <class Key>
std::vector<std::pair<Key, Sum>> Dearest(const std::map<Key, Sum>& sums) {
  std::vector<std::pair<Key, Sum>> out(sums.begin(), sums.end());
  std::ranges::stable_sort(out, [](const auto& a, const auto& b) {
    auto rank = [](const Sum& sum) { return std::tuple(sum.repeats(), sum.ns, sum.count); };
    return rank(a.second) > rank(b.second);
  });
  return out;
}

std::string Named(const std::map<std::string, Sum>& by_name) {
  std::string out;
  const auto sorted = Dearest(by_name);
  for (size_t i = 0; i < std::min(kMaxNamed, sorted.size()); ++i)
    out += fmt::format("{}{} {}", i == 0 ? "" : ", ", sorted[i].first, sorted[i].second.count);
  if (sorted.size() > kMaxNamed) out += fmt::format(" and {} more", sorted.size() - kMaxNamed);
  return out;
}

bool TakesManyInputs(std::string_view function) {
  return function.find("concatenate") != function.npos || function.find("stack") != function.npos ||
         function.find("dynamic_") != function.npos || function.find("select_n") != function.npos;
}

// JAX compiles an operation for one line of the user's; a function has several.
absl::StatusOr<bool> HasSeveralLines(const Store& store, const CompileFact& compile) {
  for (const auto& [form, graph_id] : compile.forms) {
    XP_TRY(OptInt lines, store.One<int64_t>("SELECT count(DISTINCT location) FROM graph_node WHERE "
                                            "graph_id = ?1 AND location IS NOT NULL",
                                            graph_id));
    if (lines.value_or(0) > 1) return true;
  }
  return false;
}

// A function of the user's that has the name of an operation.
absl::StatusOr<bool> IsUserFunction(const Store& store, const CompileFact& compile) {
  if (compile.cause == CutKind::kOperation) return false;
  if (compile.explained) return true;  // of an operation JAX would say so
  if (compile.input_count > kMostInputs && !TakesManyInputs(compile.function)) return true;
  return HasSeveralLines(store, compile);
}

// When the first jitted function of the user's was compiled; 0 where none was.
int64_t FirstJitted(const RecompileFacts& facts, int64_t process_id) {
  bool explains = false;
  for (const CompileSite& site : facts.sites) {
    for (const CompileFact& compile : site.compiles)
      explains |= site.process_id == process_id && compile.explained;
  }
  int64_t first = INT64_MAX;
  for (const CompileSite& site : facts.sites) {
    if (site.process_id != process_id || site.cause != CutKind::kCall) continue;
    // `stage` is JAX's own, as are names that begin with _, but for what it makes of <lambda>.
    const bool own = (site.function.starts_with('_') && !site.function.starts_with("_lambda")) ||
                     site.function == "stage" || !JaxOperationOf(site.function).empty();
    if (!explains && own) continue;
    for (const CompileFact& compile : site.compiles) {
      if (!explains || compile.explained) first = std::min(first, compile.ordinal);
    }
  }
  return first == INT64_MAX ? 0 : first;
}

// Where the line that called it is not told, its graph may show it.
class Places {
 public:
  static absl::StatusOr<Places> Make(const Store& store, const RecompileFacts& facts) {
    Places places(store, facts);
    XP_TRY(places.code_, UserCode::Load(store));
    return places;
  }
  absl::StatusOr<SourcePlace> Of(const CompileFact& compile) const {
    if (compile.site_id) {
      const auto place = facts_.places.find(*compile.site_id);
      if (place != facts_.places.end() && !place->second.file.empty()) return place->second;
    }
    for (const auto& [form, graph_id] : compile.forms) {
      XP_TRY(std::optional<std::string> text,
             store_.One<std::string>("SELECT location FROM graph_node WHERE graph_id = ?1 AND "
                                     "location IS NOT NULL ORDER BY root IS NULL, idx LIMIT 1",
                                     graph_id));
      if (!text) continue;
      SourcePlace place = code_.Resolve(SourcePlace::Parse(*text));
      if (!code_.IsUser(place)) continue;
      return place;
    }
    return SourcePlace();
  }

 private:
  Places(const Store& store, const RecompileFacts& facts) : store_(store), facts_(facts) {}
  const Store& store_;
  const RecompileFacts& facts_;
  UserCode code_;
};

struct Called {
  Sum all;
  std::map<std::string, Sum> by_name;
  std::map<std::string, Sum> by_place;
  std::map<std::string, SourcePlace> places;
  bool at_start = false, explained = false;

  void Add(const CompileFact& compile, const SourcePlace& place) {
    all.Add(compile);
    by_name[compile.function].Add(compile);
    if (place.file.empty()) return;
    const std::string key = place.text();
    by_place[key].Add(compile);
    places.try_emplace(key, place);
  }
};

bool IsDear(const Called& called, OptInt wall_ns, int64_t compiling_ns) {
  auto dear = [](int64_t ns, int64_t of_ns) {
    return ns >= kDearNs && double(ns) >= kDearShare * double(of_ns);
  };
  if (wall_ns.value_or(0) > 0 && called.all.ns_inside > 0)
    return dear(called.all.ns_inside, *wall_ns);
  return dear(called.all.ns, compiling_ns);
}

Finding FindingOf(const Called& called, bool dear) {
  const Sum& all = called.all;
  Finding finding{.severity = dear ? Severity::kWarning : Severity::kInfo,
      .title = fmt::format("{} of single operations, called outside of jit{} ({})",
                           Plural(all.count, "program"), called.at_start ? " at the start" : "",
                           Named(called.by_name)),
      .count = all.count};
  if (all.ns > 0) {
    finding.cost_ns = all.ns;
    finding.cost_note = "their compile time, with tracing and lowering on the host";
  } else {
    finding.cost_note = "unmeasured: no source that was read times these compiles";
  }
  finding.reason = Reason{.type = ReasonType::kOutsideJit,
                          .text =
                              "JAX compiles an operation that is not inside a jitted function by "
                              "itself, once for each shape"};
  if (called.at_start) {
    finding.reason->state = State::kWarmUp;
    *finding.reason->text += ". All came before the first jitted function was compiled";
  }
  const auto sorted = Dearest(called.by_place);
  std::string where;
  for (size_t i = 0; i < std::min(kMaxPlaces, sorted.size()); ++i) {
    const std::string place = called.places.at(sorted[i].first).ShortText();
    const Sum& sum = sorted[i].second;
    if (i < kMaxNamed)
      where +=
          fmt::format("{}{} ({}, {})", i == 0 ? "" : ", ", place, sum.count, DurationText(sum.ns));
    finding.evidence.push_back(
        {.table = "compile",
         .rows = sum.rows,
         .text = fmt::format("{} at {}, {}", sum.count, place, DurationText(sum.ns))});
  }
  if (sorted.empty()) {
    finding.evidence.push_back(
        {.table = "compile", .rows = all.rows, .text = Named(called.by_name)});
  } else {
    const SourcePlace& place = called.places.at(sorted.front().first);
    finding.subject = {.file = place.file, .line = place.line};
    if (!place.function.empty()) finding.subject.function = place.function;
    *finding.reason->text += ". Most at " + where;
  }
  if (called.at_start) {
    finding.advice =
        "Nothing to do in a long run. A start that takes too long is shorter where the code that "
        "makes parameters and state is one function under jax.jit.";
  } else if (sorted.empty()) {
    finding.advice =
        "Put the code around these operations into functions under jax.jit, and prepare data "
        "with numpy.";
    if (!called.explained)
      finding.advice +=
          " To see their lines, run again with JAX_EXPLAIN_CACHE_MISSES=1 and JAX_LOG_COMPILES=1.";
  } else {
    finding.advice =
        "Put the code around these lines into a function under jax.jit: one program instead of "
        "one an operation and shape. Prepare data with numpy, which compiles nothing.";
  }
  return finding;
}

}  // namespace

absl::StatusOr<std::vector<CompileFact>> TakeOperations(const Store& store,
                                                        std::vector<CompileFact>& compiles) {
  std::map<int64_t, std::set<std::string>> sure;  // by process
  for (const CompileFact& compile : compiles) {
    if (compile.cause == CutKind::kOperation ||
        (compile.cause == CutKind::kCall && !JaxOperationOf(compile.function).empty()))
      sure[compile.process_id].insert(compile.function);
  }
  auto has_its_name = [&](const CompileFact& compile) {
    const auto names = sure.find(compile.process_id);
    if (names == sure.end() ||
        (compile.cause != CutKind::kOperation && compile.cause != CutKind::kCall))
      return false;
    return names->second.contains(compile.function) ||
           (names->second.size() >= kSureNames && IsShortJaxOperation(compile.function));
  };
  std::set<int64_t> operations;
  std::map<int64_t, size_t> counts;
  for (const CompileFact& compile : compiles) {
    if (!has_its_name(compile)) continue;
    XP_TRY(bool of_user, IsUserFunction(store, compile));
    if (of_user) continue;
    operations.insert(compile.id);
    ++counts[compile.process_id];
  }
  const auto rest =
      std::stable_partition(compiles.begin(), compiles.end(), [&](const CompileFact& compile) {
        return counts[compile.process_id] < kMany || !operations.contains(compile.id);
      });
  std::vector<CompileFact> out(std::make_move_iterator(rest),
                               std::make_move_iterator(compiles.end()));
  compiles.erase(rest, compiles.end());
  return out;
}

absl::StatusOr<std::vector<std::pair<int64_t, Finding>>> OutsideJit(const Store& store,
                                                                    const RecompileFacts& facts) {
  std::vector<std::pair<int64_t, Finding>> findings;
  if (facts.operations.empty()) return findings;
  XP_TRY(const Places places, Places::Make(store, facts));
  for (const auto& [process_id, operations] : facts.operations) {
    const int64_t first_jitted = FirstJitted(facts, process_id);
    Called in_run, at_start{.at_start = true}, both;
    for (const CompileSite& site : facts.sites) {
      for (const CompileFact& compile : site.compiles)
        in_run.explained |= site.process_id == process_id && compile.explained;
    }
    for (const CompileFact& compile : operations) {
      if (!compile.in_slice) continue;
      XP_TRY(const SourcePlace place, places.Of(compile));
      (compile.ordinal < first_jitted ? at_start : in_run).Add(compile, place);
      both.Add(compile, place);
    }
    both.explained = in_run.explained;
    const OptInt wall_ns = facts.wall_ns.at(process_id);
    const bool dear = IsDear(in_run, wall_ns, facts.compiling_ns.at(process_id));
    if (dear || size_t(in_run.all.count) >= kMany) {
      findings.emplace_back(process_id, FindingOf(in_run, dear));
      if (at_start.all.count > 0) findings.emplace_back(process_id, FindingOf(at_start, false));
    } else if (both.all.count > 0) {
      findings.emplace_back(process_id, FindingOf(in_run.all.count > 0 ? both : at_start, false));
    }
  }
  return findings;
}

}  // namespace xlaprof
