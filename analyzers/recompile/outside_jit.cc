#include "analyzers/recompile/outside_jit.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "analyzers/evidence/jax_operation.h"
#include "analyzers/quantity.h"

namespace xlaprof {
namespace {

constexpr size_t kMany = 10;      // programs: fewer are what a clean start makes
constexpr size_t kSureNames = 2;  // so many make short names, such as add, JAX's too
constexpr int64_t kDearNs = 1'000'000'000;
constexpr double kDearShare = 0.1;  // of the run, or of all compiling where its length is not known
constexpr size_t kMaxNamed = 3;     // operations in the title
constexpr size_t kMaxPlaces = 6;    // in the evidence
constexpr size_t kMaxRows = 32;     // that a place cites

struct Sum {
  int64_t count = 0, ns = 0;
  std::vector<int64_t> rows;
  void Add(const CompileFact& compile) {
    ++count;
    ns += compile.compiling_ns();
    if (rows.size() < kMaxRows) rows.push_back(compile.id);
  }
};

std::string TextOf(const CompilePlace& place) {
  return fmt::format("{}:{}", std::filesystem::path(place.file).filename().string(),
                     place.line.value_or(0));
}

template <class Key>
std::vector<std::pair<Key, Sum>> Dearest(const std::map<Key, Sum>& sums) {
  std::vector<std::pair<Key, Sum>> out(sums.begin(), sums.end());
  std::ranges::stable_sort(out, [](const auto& a, const auto& b) {
    return std::pair(a.second.ns, a.second.count) > std::pair(b.second.ns, b.second.count);
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

}  // namespace

std::vector<CompileFact> TakeOperations(std::vector<CompileFact>& compiles) {
  std::map<int64_t, std::set<std::string>> sure;  // by process
  for (const CompileFact& compile : compiles) {
    if (compile.cause == "operation" ||
        (compile.cause == "call" && !JaxOperationOf(compile.function).empty()))
      sure[compile.process_id].insert(compile.function);
  }
  auto is_operation = [&](const CompileFact& compile) {
    const auto names = sure.find(compile.process_id);
    if (names == sure.end() || (compile.cause != "operation" && compile.cause != "call"))
      return false;
    return names->second.contains(compile.function) ||
           (names->second.size() >= kSureNames && IsShortJaxOperation(compile.function));
  };
  std::map<int64_t, size_t> counts;
  for (const CompileFact& compile : compiles) counts[compile.process_id] += is_operation(compile);
  const auto rest =
      std::stable_partition(compiles.begin(), compiles.end(), [&](const CompileFact& compile) {
        return counts[compile.process_id] < kMany || !is_operation(compile);
      });
  std::vector<CompileFact> out(std::make_move_iterator(rest),
                               std::make_move_iterator(compiles.end()));
  compiles.erase(rest, compiles.end());
  return out;
}

Findings OutsideJit(const RecompileFacts& facts) {
  Findings findings;
  for (const auto& [process_id, operations] : facts.operations) {
    Sum all;
    std::map<std::string, Sum> by_name;
    std::map<int64_t, Sum> by_site;
    for (const CompileFact& compile : operations) {
      if (!compile.in_slice) continue;
      all.Add(compile);
      by_name[compile.function].Add(compile);
      if (!compile.site_id) continue;
      const auto place = facts.places.find(*compile.site_id);
      if (place != facts.places.end() && !place->second.file.empty())
        by_site[*compile.site_id].Add(compile);
    }
    if (all.count == 0) continue;
    const OptInt wall_ns = facts.wall_ns.at(process_id);
    const int64_t of_ns = wall_ns.value_or(0) > 0 ? *wall_ns : facts.compiling_ns.at(process_id);
    const bool dear = all.ns >= kDearNs && double(all.ns) >= kDearShare * double(of_ns);
    Finding finding{.kind = "recompilation",
                    .severity = dear ? Severity::kWarning : Severity::kInfo,
                    .title = fmt::format("{} of single operations, called outside of jit ({})",
                                         Plural(all.count, "program"), Named(by_name)),
                    .count = all.count};
    if (all.ns > 0) {
      finding.cost_ns = all.ns;
      finding.cost_note = "their compile time, with tracing and lowering on the host";
    } else {
      finding.cost_note = "unmeasured: no source that was read times these compiles";
    }
    finding.reason =
        Reason{.type = "outside_jit",
               .text =
                   "JAX compiles an operation that is not inside a jitted function by itself, "
                   "once for each shape"};
    const auto sites = Dearest(by_site);
    std::string where;
    for (size_t i = 0; i < std::min(kMaxPlaces, sites.size()); ++i) {
      const CompilePlace& place = facts.places.at(sites[i].first);
      const Sum& sum = sites[i].second;
      if (i < kMaxNamed)
        where += fmt::format("{}{} ({}, {})", i == 0 ? "" : ", ", TextOf(place), sum.count,
                             DurationText(sum.ns));
      finding.evidence.push_back(
          {.table = "compile",
           .rows = sum.rows,
           .text = fmt::format("{} at {}, {}", sum.count, TextOf(place), DurationText(sum.ns))});
    }
    if (sites.empty()) {
      finding.evidence.push_back({.table = "compile", .rows = all.rows, .text = Named(by_name)});
      finding.advice =
          "Put the code around these operations into functions under jax.jit, and prepare data "
          "with numpy. To see their lines, run again with JAX_EXPLAIN_CACHE_MISSES=1 and "
          "JAX_LOG_COMPILES=1.";
    } else {
      const CompilePlace& place = facts.places.at(sites.front().first);
      finding.subject = {.file = place.file, .line = place.line};
      if (!place.function.empty()) finding.subject.function = place.function;
      *finding.reason->text += ". Most at " + where;
      finding.advice =
          "Put the code around these lines into a function under jax.jit: one program instead of "
          "one an operation and shape. Prepare data with numpy, which compiles nothing.";
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace xlaprof
