#include "profiler/import/join/align_facts.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <ranges>
#include <utility>

#include "profiler/import/join/sequence.h"

namespace xlaprof {
namespace {

// Threads that cut graphs at the same time may be recorded in another order, by this many facts.
constexpr int kReordered = 8;

// Two sources time the start of one compile at places of the runtime that are a millisecond apart, or
// several on a busy machine. Two compiles of one process are further apart, because each takes longer.
constexpr int64_t kSameStartNs = 50'000'000;

// More compilations than this do not begin within kSameStartNs.
constexpr size_t kMostAtOnce = 64;

// Compilations that only one of two sources saw, such as one at the edge of a profile, are few.
constexpr double kNearlyAll = 0.9;

// Kinds of cuts: they end a step, read a value, or do something else.
int KindOf(const Fact& fact) {
  return EndsStep(fact.cause) ? 1 : fact.cause == CutKind::kValueAccess ? 2 : 3;
}

// Returns whether an execution of the XSpace can be that execution of the log. Hashes decide if
// both are known, and else the kind of cut (a step mark, or a read before it).
bool SameCut(const Fact& a, const Fact& b) {
  if (a.is_compile || b.is_compile) return false;
  if (!a.hash.empty() && !b.hash.empty()) return a.hash == b.hash;
  if (a.cause == CutKind::kUnknown || b.cause == CutKind::kUnknown) return true;
  return KindOf(a) == KindOf(b) || KindOf(a) == 3 || KindOf(b) == 3;
}

// Returns the places of the executions in a range of facts.
std::vector<int> Executions(const Facts& facts, int begin, int end) {
  std::vector<int> out;
  for (int i = begin; i < end; ++i) {
    if (!facts[size_t(i)].is_compile) out.push_back(i);
  }
  return out;
}

int64_t ExecutionCount(const Facts& facts) {
  return std::ranges::count_if(facts, [](const Fact& fact) { return !fact.is_compile; });
}

// Pairs executions of two sources from a place on that they share, as long as their cuts agree.
// Afterwards, the order may differ because several threads cut graphs: what both sources have in
// common is paired, and then each execution that is left with the nearest one that fits.
void LockStep(const Facts& story, const Facts& timed, const std::vector<int>& s,
              const std::vector<int>& t, ByClock& out) {
  auto same = [&](int x, int y) { return SameCut(story[size_t(x)], timed[size_t(y)]); };
  size_t agreed = 0;
  while (agreed < std::min(s.size(), t.size()) && same(s[agreed], t[agreed])) {
    out.pairs.emplace_back(s[agreed], t[agreed]);
    ++agreed;
  }
  if (agreed == std::min(s.size(), t.size())) return;
  auto kinds = [&](const Facts& facts, const std::vector<int>& places) {
    std::vector<int64_t> tokens;
    for (size_t i = agreed; i < places.size(); ++i)
      tokens.push_back(KindOf(facts[size_t(places[i])]));
    return tokens;
  };
  std::vector<bool> taken(s.size(), false);
  int next_s = int(agreed);  // the story's execution that follows the last pair
  size_t next_t = agreed;
  std::vector<std::pair<int, int>> left;  // places in t, and where each is expected in s
  auto leave_until = [&](size_t end) {
    for (; next_t < end; ++next_t) left.emplace_back(int(next_t), next_s);
  };
  for (auto [x, y] : CommonSubsequence(kinds(story, s), kinds(timed, t))) {
    leave_until(agreed + size_t(y));
    const size_t at = agreed + size_t(x);
    if (same(s[at], t[next_t])) {
      out.pairs.emplace_back(s[at], t[next_t]);
      taken[at] = true;
      next_s = int(at) + 1, ++next_t;
    }
  }
  leave_until(t.size());
  for (auto [y, expected] : left) {
    int best = -1;
    for (int x = std::max(int(agreed), expected - kReordered);
         x < std::min(int(s.size()), expected + kReordered); ++x) {
      if (taken[size_t(x)] || !same(s[size_t(x)], t[size_t(y)])) continue;
      if (best < 0 || std::abs(x - expected) < std::abs(best - expected)) best = x;
    }
    if (best < 0) continue;
    taken[size_t(best)] = true;
    out.reordered.emplace_back(s[size_t(best)], t[size_t(y)]);
  }
}

}  // namespace

Pairs AlignByHash(const Facts& a, const Facts& b, bool compiles_only) {
  std::map<std::pair<bool, std::string>, int64_t> numbers;
  struct Tokens {
    std::vector<int64_t> tokens;
    std::vector<int> facts;  // places of the facts
  };
  // Thousands of tokens that match nothing would end the search for the others, so facts that
  // cannot match are left out.
  auto tokens = [&](const Facts& facts) {
    Tokens out;
    for (size_t i = 0; i < facts.size(); ++i) {
      const Fact& fact = facts[i];
      const std::string name = !fact.hash.empty()       ? fact.hash
                               : !fact.number.empty()   ? "program " + fact.number
                               : !fact.function.empty() ? "function " + fact.function
                                                        : "";
      if (name.empty() || (compiles_only && !fact.is_compile)) continue;
      out.tokens.push_back(
          numbers.emplace(std::pair(fact.is_compile, name), int64_t(numbers.size())).first->second);
      out.facts.push_back(int(i));
    }
    return out;
  };
  const Tokens of_a = tokens(a), of_b = tokens(b);
  Pairs pairs = CommonSubsequence(of_a.tokens, of_b.tokens);
  for (auto& [x, y] : pairs) x = of_a.facts[size_t(x)], y = of_b.facts[size_t(y)];
  // Programs of other processes have the same numbers.
  std::erase_if(pairs, [&](const auto& pair) {
    const Fact &of_x = a[size_t(pair.first)], &of_y = b[size_t(pair.second)];
    return of_x.hash.empty() && !of_x.number.empty() && !BeginTogether(of_x.ts_ns, of_y.ts_ns);
  });
  return pairs;
}

bool BeginTogether(OptInt a_ns, OptInt b_ns) {
  return !a_ns || !b_ns || std::abs(*a_ns - *b_ns) <= kSameStartNs;
}

bool AreOfTorchCompile(const Facts& facts) {
  return !facts.empty() && std::ranges::all_of(facts, [](const Fact& fact) {
    return fact.cause == CutKind::kCompiledFunction;
  });
}

void NumberByClock(const Facts& story, Facts& timed) {
  std::map<int64_t, const Fact*> starts;
  for (const Fact& fact : story) {
    if (fact.is_compile && fact.ts_ns && !fact.number.empty()) starts[*fact.ts_ns] = &fact;
  }
  for (Fact& fact : timed) {
    if (!fact.is_compile || !fact.number.empty() || !fact.ts_ns ||
        fact.cause != CutKind::kCompiledFunction)
      continue;
    // The story may have begun to time it earlier.
    const auto after = starts.upper_bound(*fact.ts_ns + kSameStartNs);
    if (after == starts.begin()) continue;
    const auto& [ts_ns, same] = *std::prev(after);
    if (BeginTogether(ts_ns, fact.ts_ns)) fact.number = same->number;
  }
}

Pairs AlignByCount(const Facts& a, const Facts& b) {
  // A program of which only torch.compile's log tells may be none that the runtime compiled by itself.
  const auto compiles = [](const Facts& facts) {
    std::vector<int> places;
    for (size_t i = 0; i < facts.size(); ++i) {
      const Fact& fact = facts[i];
      if (fact.is_compile && (fact.cause != CutKind::kCompiledFunction || fact.ts_ns))
        places.push_back(int(i));
    }
    return places;
  };
  const std::vector<int> x = compiles(a), y = compiles(b);
  Pairs pairs;
  if (x.size() != y.size()) return pairs;
  for (size_t i = 0; i < x.size(); ++i) pairs.emplace_back(x[i], y[i]);
  return pairs;
}

// Returns the places of the facts that are wanted, which must have starts, in the order of these.
static std::vector<int> PlacesByStart(const Facts& facts, bool (*is_wanted)(const Fact&)) {
  std::vector<int> places;
  for (size_t i = 0; i < facts.size(); ++i) {
    if (is_wanted(facts[i])) places.push_back(int(i));
  }
  std::ranges::stable_sort(places, {}, [&](int i) { return *facts[size_t(i)].ts_ns; });
  return places;
}

Pairs AlignByTime(const Facts& a, const Facts& b) {
  const auto timed = [](const Facts& facts) {
    return PlacesByStart(facts, [](const Fact& fact) { return !fact.is_compile && fact.ts_ns; });
  };
  const std::vector<int> of_a = timed(a), of_b = timed(b);
  // Returns whether the fact before an execution is its compile.
  const auto has_compile = [](const Facts& facts, int at) {
    return at > 0 && facts[size_t(at) - 1].is_compile;
  };
  Pairs pairs;
  if (of_a.empty()) {
    pairs = AlignByCount(a, b);
    const bool fits = std::ranges::all_of(pairs, [&](const auto& pair) {
      const OptInt &of_compile = a[size_t(pair.first)].ts_ns, &asked = b[size_t(pair.second)].ts_ns;
      return of_compile && asked && *of_compile >= *asked;
    });
    return fits ? pairs : Pairs();
  }
  size_t next = 0, executions = 0;
  for (size_t i = 0; i < of_b.size(); ++i) {
    const int64_t begin = *b[size_t(of_b[i])].ts_ns,
                  end = i + 1 < of_b.size() ? *b[size_t(of_b[i + 1])].ts_ns : INT64_MAX;
    while (next < of_a.size() && *a[size_t(of_a[next])].ts_ns < begin) ++next;
    size_t last = next;
    while (last < of_a.size() && *a[size_t(of_a[last])].ts_ns < end) ++last;
    const size_t first = std::exchange(next, last);
    if (last == first) continue;
    const int x = of_a[first], y = of_b[i];
    if (has_compile(a, x) != has_compile(b, y)) continue;
    if (!pairs.empty() && (x <= pairs.back().first || y <= pairs.back().second)) continue;
    if (has_compile(a, x)) pairs.emplace_back(x - 1, y - 1);
    pairs.emplace_back(x, y);
    ++executions;
  }
  if (double(executions) < kNearlyAll * double(std::min(of_a.size(), of_b.size()))) pairs.clear();
  return pairs;
}

bool HoldsReplicas(const Facts& story, const std::vector<Facts>& dumps) {
  if (dumps.size() < 2) return false;
  int64_t all = 0;
  for (const Facts& dump : dumps) {
    if (AlignByHash(story, dump, false).empty()) return false;
    all += ExecutionCount(dump);
  }
  const int64_t told = ExecutionCount(story);
  return std::abs(told - all) < std::abs(told - ExecutionCount(dumps[0]));
}

Interleaved FollowStory(const Facts& story, const std::vector<Facts>& dumps) {
  Interleaved out;
  std::map<std::string, std::vector<const Fact*>> compiles;  // of the dumps, by hash
  std::vector<Facts> executions(dumps.size());
  for (size_t d = 0; d < dumps.size(); ++d) {
    for (const Fact& fact : dumps[d]) {
      if (fact.is_compile) {
        compiles[fact.hash].push_back(&fact);
      } else {
        executions[d].push_back(fact);
      }
    }
  }
  std::vector<size_t> next(dumps.size(), 0);
  auto take = [&](size_t d, size_t end) {
    while (next[d] < end) out.facts.push_back(executions[d][next[d]++]);
  };
  for (size_t i = 0; i < story.size(); ++i) {
    const Fact& told = story[i];
    if (told.is_compile) {
      std::vector<const Fact*>& same = compiles[told.hash];
      if (same.empty()) continue;
      out.facts.push_back(*same.front());
      same.erase(same.begin());
      out.pairs.emplace_back(int(i), int(out.facts.size()) - 1);
      continue;
    }
    // Takes the dump that is furthest behind, among those whose next execution fits.
    size_t best = dumps.size(), best_at = 0;
    for (size_t d = 0; d < dumps.size(); ++d) {
      const size_t end = std::min(executions[d].size(), next[d] + size_t(kReordered));
      size_t at = next[d];
      while (at < end && executions[d][at].hash != told.hash) ++at;
      if (at == end) continue;
      const size_t skipped = at - next[d];
      if (best == dumps.size() ||
          std::pair(skipped, next[d]) < std::pair(best_at - next[best], next[best]))
        best = d, best_at = at;
    }
    if (best == dumps.size()) continue;
    take(best, best_at + 1);
    out.pairs.emplace_back(int(i), int(out.facts.size()) - 1);
  }
  for (size_t d = 0; d < dumps.size(); ++d) take(d, executions[d].size());
  for (const auto& [hash, same] : compiles) {
    for (const Fact* compile : same) out.repeated_compiles.push_back(compile->id);
  }
  return out;
}

bool NamesCompiles(const Facts& facts) {
  return std::ranges::any_of(facts, [](const Fact& fact) {
    return fact.is_compile &&
           (!fact.hash.empty() || !fact.number.empty() || !fact.function.empty());
  });
}

Pairs AlignByFunction(const Facts& a, const Facts& b) {
  if (std::ranges::any_of(b,
                          [](const Fact& fact) { return fact.is_compile && !fact.hash.empty(); }))
    return {};
  const auto named = [](const Facts& facts) {
    Facts named = facts;
    for (Fact& fact : named) fact.hash.clear();
    return named;
  };
  return AlignByHash(named(a), named(b), /*compiles_only=*/true);
}

Pairs AlignByInterval(const Facts& a, const Facts& b) {
  const auto timed = [](const Facts& facts) {
    return PlacesByStart(
        facts, [](const Fact& fact) { return fact.is_compile && fact.ts_ns && fact.end_ns; });
  };
  const std::vector<int> of_a = timed(a), of_b = timed(b);
  Pairs pairs;
  size_t next = 0;  // place in of_a after the last pair
  for (const int y : of_b) {
    const Fact& of_y = b[size_t(y)];
    std::optional<std::pair<int64_t, size_t>> nearest;  // how far apart, and the place in of_a
    for (size_t i = next; i < std::min(of_a.size(), next + kMostAtOnce); ++i) {
      const Fact& of_x = a[size_t(of_a[i])];
      if (*of_x.ts_ns > *of_y.ts_ns + kSameStartNs || *of_x.ts_ns > *of_y.end_ns) break;
      if (!BeginTogether(of_x.ts_ns, of_y.ts_ns)) {
        next = i + 1;  // it is too early for the later ones, too
        continue;
      }
      if (!BeginTogether(of_x.end_ns, of_y.end_ns) || *of_x.end_ns < *of_y.ts_ns) continue;
      const int64_t apart =
          std::abs(*of_x.ts_ns - *of_y.ts_ns) + std::abs(*of_x.end_ns - *of_y.end_ns);
      if (!nearest || apart < nearest->first) nearest = {apart, i};
    }
    if (!nearest) continue;
    const int x = of_a[nearest->second];
    if (!pairs.empty() && (x <= pairs.back().first || y <= pairs.back().second)) continue;
    pairs.emplace_back(x, y);
    next = nearest->second + 1;
  }
  const auto compiles = [](const Facts& facts) {
    return double(std::ranges::count_if(facts, &Fact::is_compile));
  };
  if (double(pairs.size()) < kNearlyAll * std::min(compiles(a), compiles(b))) pairs.clear();
  return pairs;
}

Pairs AlignWithoutHash(const Facts& a, const Facts& b) {
  const Pairs pairs = AlignByFunction(a, b);
  // A function is compiled for several sizes, so a profile of a part of the run fits at several
  // places. If the clocks agree, they tell which one it is.
  if (!pairs.empty()) {
    Pairs by_clock = AlignByInterval(a, b);
    const bool agree = std::ranges::all_of(by_clock, [&](const auto& pair) {
      return a[size_t(pair.first)].function == b[size_t(pair.second)].function;
    });
    if (by_clock.size() == pairs.size() && agree) return by_clock;
  }
  const auto some = [](const Facts& facts, std::string Fact::* name) {
    return std::ranges::any_of(
        facts, [&](const Fact& fact) { return fact.is_compile && !(fact.*name).empty(); });
  };
  // Sources with a kind of name in common are of two programs if they have no name in common.
  for (const auto name : {&Fact::hash, &Fact::number, &Fact::function}) {
    if (some(a, name) && some(b, name)) return pairs;
  }
  return pairs.empty() && NamesCompiles(a) && NamesCompiles(b) ? AlignByInterval(a, b) : pairs;
}

// Aligns by the names or times of what was compiled. Compilation and execution are asked for by other threads
// than those that do it, so each execution of the story is the next one of the profile.
static ByClock AlignByNames(const Facts& story, const Facts& timed) {
  ByClock out{.pairs = AlignWithoutHash(story, timed)};
  if (out.pairs.empty()) return out;
  const std::vector<int> t = Executions(timed, 0, int(timed.size()));
  size_t next = 0;
  for (const int s : Executions(story, 0, int(story.size()))) {
    const OptInt& asked = story[size_t(s)].ts_ns;
    while (asked && next < t.size() && timed[size_t(t[next])].ts_ns.value_or(INT64_MAX) < *asked)
      ++next;
    if (next == t.size()) break;
    out.reordered.emplace_back(s, t[next++]);
  }
  out.note = fmt::format("aligned with the other sources by the {} of {} compile{}",
                         AlignByFunction(story, timed).empty() ? "times" : "names",
                         out.pairs.size(), out.pairs.size() == 1 ? "" : "s");
  return out;
}

// Returns the place of `places` (in `executions`) before which nearest to `steps` steps have ended, or
// nothing if none is near.
static std::optional<int> NearestToSteps(const Facts& story, const std::vector<int>& executions,
                                         const std::vector<int>& places, int64_t steps) {
  // The observer looks at the count of steps a few times per second, and a step may have ended since.
  constexpr int64_t kMostApart = 3;
  std::optional<std::pair<int64_t, int>> nearest;  // how far apart, and the place
  int64_t ended = 0;
  size_t next = 0;
  for (int at = 0; at < int(executions.size()) && next < places.size(); ++at) {
    if (at == places[next]) {
      const int64_t apart = std::abs(ended - steps);
      if (apart <= kMostApart && (!nearest || apart < nearest->first)) nearest = {apart, at};
      ++next;
    }
    ended += EndsStep(story[size_t(executions[size_t(at)])].cause);
  }
  return nearest ? std::optional(nearest->second) : std::nullopt;
}

// Finds the compile with which a profile begins, which has no name if its cut began before the profile:
// it is the last one of the story before the first that both name. Returns nothing if the story
// executed more since then than the profile saw.
static std::optional<std::pair<int, int>> CompileAtStart(const Facts& story, const Facts& timed,
                                                         const std::pair<int, int>& first_anchor) {
  const auto& [story_end, timed_end] = first_anchor;
  if (timed_end == 0 || !timed.front().is_compile) return {};
  const Fact& first = timed.front();
  if (!first.hash.empty() || !first.number.empty() || !first.function.empty()) return {};
  const auto is_compile = [](const Fact& fact) { return fact.is_compile; };
  if (std::any_of(timed.begin() + 1, timed.begin() + timed_end, is_compile)) return {};
  int last = story_end - 1;
  while (last >= 0 && !story[size_t(last)].is_compile) --last;
  if (last < 0 || !BeginTogether(story[size_t(last)].ts_ns, first.ts_ns)) return {};
  if (story_end - last > timed_end) return {};
  return std::pair(last, 0);
}

// Returns those of `executions` that end a step.
static std::vector<int> MarksAmong(const Facts& facts, const std::vector<int>& executions) {
  std::vector<int> marks;
  for (const int at : executions) {
    if (EndsStep(facts[size_t(at)].cause)) marks.push_back(at);
  }
  return marks;
}

// Aligns the step marks alone, of a window in which about `steps_before` steps of the story had ended.
// A log has no executions that another thread than Python's asked for, such as those of ops without
// lowering in a backward pass, so the order of all cuts differs. In each step, the other executions
// are paired if both sources have as many. Returns nothing if a step of the story has more of them.
static Pairs AlignByMarks(const Facts& story, const Facts& timed, int64_t steps_before) {
  const std::vector<int> s = MarksAmong(story, Executions(story, 0, int(story.size()))),
                         t = MarksAmong(timed, Executions(timed, 0, int(timed.size())));
  if (t.empty() || s.size() < t.size()) return {};
  std::vector<int> places;
  for (size_t place = 0; place + t.size() <= s.size(); ++place) {
    const bool fits = std::ranges::all_of(
        std::views::iota(size_t{0}, t.size()),
        [&](size_t i) { return SameCut(story[size_t(s[place + i])], timed[size_t(t[i])]); });
    if (fits) places.push_back(int(place));
  }
  const std::optional<int> place = NearestToSteps(story, s, places, steps_before);
  if (!place) return {};
  Pairs pairs;
  for (size_t i = 0; i < t.size(); ++i) {
    const size_t at = size_t(*place) + i;
    const std::vector<int> told = Executions(story, at == 0 ? 0 : s[at - 1] + 1, s[at]),
                           seen = Executions(timed, i == 0 ? 0 : t[i - 1] + 1, t[i]);
    // The window may begin within a step.
    if (told.size() > seen.size() && i > 0) return {};
    const bool are_same = told.size() == seen.size() &&
                          std::ranges::equal(told, seen, [&](int x, int y) {
                            return SameCut(story[size_t(x)], timed[size_t(y)]);
                          });
    for (size_t k = 0; are_same && k < told.size(); ++k) pairs.emplace_back(told[k], seen[k]);
    pairs.emplace_back(s[at], t[i]);
  }
  return pairs;
}

ByClock AlignWindow(const Facts& story, const Facts& timed, OptInt steps_before) {
  Pairs anchors = AlignByHash(story, timed, /*compiles_only=*/true);
  ByClock out;
  if (anchors.empty()) out = AlignByNames(story, timed);
  if (!out.pairs.empty()) return out;
  Pairs& pairs = out.pairs;
  if (AreOfTorchCompile(story) && AreOfTorchCompile(timed)) {
    pairs = std::move(anchors);
    out.note = "aligned with the other sources by the clock";
    return out;
  }
  auto forward = [&](int s0, int s1, int t0, int t1) {
    LockStep(story, timed, Executions(story, s0, s1), Executions(timed, t0, t1), out);
  };
  if (!anchors.empty()) {
    // The part before the first anchor is aligned backwards from it.
    const auto start = CompileAtStart(story, timed, anchors[0]);
    std::vector<int> s = Executions(story, start ? start->first + 1 : 0, anchors[0].first),
                     t = Executions(timed, 0, anchors[0].second);
    for (size_t i = 1; i <= std::min(s.size(), t.size()) &&
                       SameCut(story[size_t(s[s.size() - i])], timed[size_t(t[t.size() - i])]);
         ++i) {
      pairs.emplace_back(s[s.size() - i], t[t.size() - i]);
    }
    if (start) {
      // The program runs next, and no other fact is that execution.
      const size_t next = size_t(start->first) + 1;
      const bool runs = !s.empty() && !t.empty() && s.front() == int(next) && t.front() == 1 &&
                        timed[1].graph_id == timed[0].graph_id;
      const bool is_left =
          pairs.empty() || (pairs.back().first > int(next) && pairs.back().second > 1);
      if (runs && is_left) pairs.emplace_back(int(next), 1);
      pairs.push_back(*start);
    }
    for (size_t i = 0; i < anchors.size(); ++i) {
      pairs.push_back(anchors[i]);
      bool last = i + 1 == anchors.size();
      forward(anchors[i].first + 1, last ? int(story.size()) : anchors[i + 1].first,
              anchors[i].second + 1, last ? int(timed.size()) : anchors[i + 1].second);
    }
    const bool one = anchors.size() == 1;
    const bool hashes = !story[size_t(anchors[0].first)].hash.empty();
    out.note = fmt::format("aligned with the other sources by {} compile{}", anchors.size(),
                           hashes ? (one ? " hash" : " hashes") : (one ? "" : "s"));
    std::sort(pairs.begin(), pairs.end());
    return out;
  }
  std::vector<int> s = Executions(story, 0, int(story.size())),
                   t = Executions(timed, 0, int(timed.size()));
  if (t.empty()) return out;
  const auto by_marks = [&] {
    if (steps_before) pairs = AlignByMarks(story, timed, *steps_before);
    if (!pairs.empty())
      out.note =
          "aligned with the other sources by the step marks and the number of steps before it, within a few steps, because it shows executions that they lack";
    return !pairs.empty();
  };
  if (s.size() < t.size()) {
    if (by_marks()) return out;
    out.note = fmt::format(
        "not aligned with the other sources: {}, and they have no compile in common",
        s.empty() ? "these show no executions" : "it shows more executions than they do");
    return out;
  }
  std::vector<int> fits;  // places of the window in `s`
  for (size_t offset = 0; offset + t.size() <= s.size(); ++offset) {
    bool fit = true;
    for (size_t i = 0; fit && i < t.size(); ++i)
      fit = SameCut(story[size_t(s[offset + i])], timed[size_t(t[i])]);
    if (fit) fits.push_back(int(offset));
  }
  if (fits.empty()) {
    if (by_marks()) return out;
    out.note =
        "not aligned with the other sources: they have no compile in common, and the order of the cuts differs";
    return out;
  }
  const std::optional<int> by_steps =
      steps_before ? NearestToSteps(story, s, fits, *steps_before) : std::nullopt;
  const int place = by_steps.value_or(fits.back());
  for (size_t i = 0; i < t.size(); ++i) pairs.emplace_back(s[size_t(place) + i], t[i]);
  out.note =
      fits.size() == 1 ? "aligned with the other sources by the order of the cuts"
      : by_steps
          ? "aligned with the other sources by the number of steps before it, within a few steps"
          : fmt::format(
                "aligned by guess: no compile shows the position in the run, {} positions fit equally well, and the last one was chosen",
                fits.size());
  return out;
}

}  // namespace xlaprof
