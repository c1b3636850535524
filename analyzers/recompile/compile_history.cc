#include "analyzers/recompile/compile_history.h"

#include <algorithm>

#include "analyzers/policy.h"
#include "analyzers/quantity.h"

namespace xlaprof {
namespace {

constexpr size_t kMaxLookedBack = 4096;  // compiles; a run of several days may have a million

}  // namespace

CompileHistory::CompileHistory(const CompileSites& facts) {
  for (const CompileSite& site : facts.sites) {
    for (const CompileFact& compile : site.compiles)
      processes_[site.process_id].compiles.push_back({compile.ordinal, &compile, &site});
  }
  for (auto& [process_id, process] : processes_) {
    std::stable_sort(process.compiles.begin(), process.compiles.end(),
                     [](const auto& a, const auto& b) { return a.ordinal < b.ordinal; });
    for (size_t i = 0; i < process.compiles.size(); ++i) {
      Compiled& one = process.compiles[i];
      auto [found, is_new] = process.places.try_emplace(one.fact->hash);
      one.graph =
          is_new ? process.places.size() - 1 : process.compiles[found->second.front()].graph;
      found->second.push_back(i);
    }
  }
}

size_t CompileHistory::Process::CountBefore(int64_t ordinal) const {
  return size_t(std::lower_bound(compiles.begin(), compiles.end(), ordinal,
                                 [](const Compiled& one, int64_t o) { return one.ordinal < o; }) -
                compiles.begin());
}

std::span<const CompileHistory::Compiled> CompileHistory::Before(const CompileFact& compile) const {
  const Process& process = processes_.at(compile.process_id);
  const size_t end = process.CountBefore(compile.ordinal), count = std::min(end, kMaxLookedBack);
  return std::span(process.compiles).subspan(end - count, count);
}

std::optional<RecompileCause> CompileHistory::WhyCompiledAgain(const CompileFact& compile) const {
  if (compile.hash.empty() || compile.inferred) return std::nullopt;
  const Process& process = processes_.at(compile.process_id);
  const std::vector<size_t>& places = process.places.at(compile.hash);
  const size_t end = process.CountBefore(compile.ordinal);
  const auto next = std::lower_bound(places.begin(), places.end(), end);
  if (next == places.begin()) return std::nullopt;
  const size_t previous = *(next - 1);
  // Counting stops at kGraphsInCache other graphs, because these already evict this one.
  std::vector<bool> seen(process.places.size());
  int64_t between = 0;
  for (size_t i = previous + 1; i < end && between < policy::kGraphsInCache; ++i) {
    between += !seen[process.compiles[i].graph];
    seen[process.compiles[i].graph] = true;
  }
  if (between == 0) {
    return RecompileCause{.type = ReasonType::kUnknown, .note = note::CompiledTwiceInARow()};
  }
  return RecompileCause{.type = ReasonType::kCacheEviction,
                        .note =
                            note::OthersSince{.others = between, .kept = policy::kGraphsInCache}};
}

const CompileFact& NearestByCounts(const CompileSite& site, size_t index) {
  const CompileFact& compile = site.compiles[index];
  // A size that an earlier program had is no news, so another number of inputs or of results is
  // nearer than another size.
  const auto distance = [&](const CompileFact& earlier) {
    const bool has_other_size = earlier.input_bytes && compile.input_bytes &&
                                *earlier.input_bytes != *compile.input_bytes;
    return 2 * (earlier.input_count != compile.input_count) +
           2 * (earlier.output_count != compile.output_count) + 3 * has_other_size;
  };
  size_t best = index - 1;
  const size_t first = index - std::min(index, kMaxLookedBack);
  for (size_t e = index - 1; e-- > first && distance(site.compiles[best]) > 0;) {
    if (distance(site.compiles[e]) < distance(site.compiles[best])) best = e;
  }
  return site.compiles[best];
}

RecompileCause BySizes(const CompileFact& earlier, const CompileFact& compile) {
  RecompileCause cause{.type = ReasonType::kUnknown};
  auto known_equal = [](OptInt a, OptInt b) { return a && b && *a == *b; };
  auto known_other = [](OptInt a, OptInt b) { return a && b && *a != *b; };
  const bool same_inputs = known_equal(earlier.input_count, compile.input_count);
  const bool same_outputs = known_equal(earlier.output_count, compile.output_count);
  if (same_inputs && same_outputs && known_other(earlier.input_bytes, compile.input_bytes)) {
    cause.type = ReasonType::kShapeChange;
    cause.before = fmt::format("{} bytes of inputs", *earlier.input_bytes);
    cause.after = fmt::format("{} bytes of inputs", *compile.input_bytes);
    cause.is_input = true;
    cause.note = note::OtherSizeOfInputs();
  } else if (same_inputs && known_other(earlier.output_count, compile.output_count)) {
    cause.type = ReasonType::kLiveTensorsChange;
    cause.before = Plural(*earlier.output_count, "result");
    cause.after = Plural(*compile.output_count, "result");
    cause.note = note::OtherNumberOfResults();
  } else if (known_other(earlier.input_count, compile.input_count)) {
    cause.note = note::OtherCounts{.inputs_before = *earlier.input_count,
                                   .inputs = *compile.input_count,
                                   .results_before = earlier.output_count,
                                   .results = compile.output_count};
  } else if (same_inputs && same_outputs) {
    cause.note = note::SameCounts();
  }
  return cause;
}

}  // namespace xlaprof
