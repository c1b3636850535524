#include "profiler/import/join/align_facts.h"

#include <algorithm>
#include <map>
#include <optional>

#include "profiler/import/join/sequence.h"

namespace xlaprof {
namespace {

// Tokens of a's and b's facts that can match nothing are negative and distinct.
constexpr int64_t kUnlike = -1;

// Returns whether an execution of the XSpace can be that execution of the log. Hashes decide if
// both are known, and else the kind of cut (a step mark, or a read before it).
bool SameCut(const Fact& a, const Fact& b) {
  if (a.is_compile || b.is_compile) return false;
  if (!a.hash.empty() && !b.hash.empty()) return a.hash == b.hash;
  if (a.cause == CutKind::kUnknown || b.cause == CutKind::kUnknown) return true;
  auto kind = [](const Fact& fact) {
    return EndsStep(fact.cause) ? 1 : fact.cause == CutKind::kValueAccess ? 2 : 3;
  };
  return kind(a) == kind(b) || kind(a) == 3 || kind(b) == 3;
}

std::vector<int> Executions(const Facts& facts, int begin, int end) {
  std::vector<int> out;
  for (int i = begin; i < end; ++i) {
    if (!facts[size_t(i)].is_compile) out.push_back(i);
  }
  return out;
}

}  // namespace

Pairs AlignByHash(const Facts& a, const Facts& b, bool compiles_only) {
  std::map<std::pair<bool, std::string>, int64_t> numbers;
  auto tokens = [&](const Facts& facts, int64_t side) {
    std::vector<int64_t> out;
    int64_t unlike = kUnlike - side;
    for (const Fact& fact : facts) {
      const std::string name = !fact.hash.empty()       ? fact.hash
                               : !fact.function.empty() ? "function " + fact.function
                                                        : "";
      if (name.empty() || (compiles_only && !fact.is_compile)) {
        out.push_back(unlike -= 2);
      } else {
        out.push_back(numbers.emplace(std::pair(fact.is_compile, name), int64_t(numbers.size()))
                          .first->second);
      }
    }
    return out;
  };
  return CommonSubsequence(tokens(a, 0), tokens(b, 1));
}

Pairs AlignByCount(const Facts& a, const Facts& b) {
  std::vector<int> x, y;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].is_compile) x.push_back(int(i));
  }
  for (size_t i = 0; i < b.size(); ++i) {
    if (b[i].is_compile) y.push_back(int(i));
  }
  Pairs pairs;
  if (x.size() != y.size()) return pairs;
  for (size_t i = 0; i < x.size(); ++i) pairs.emplace_back(x[i], y[i]);
  return pairs;
}

bool NamesCompiles(const Facts& facts) {
  return std::ranges::any_of(facts, [](const Fact& fact) {
    return fact.is_compile && (!fact.hash.empty() || !fact.function.empty());
  });
}

ByClock AlignWindow(const Facts& story, const Facts& timed) {
  ByClock out;
  Pairs anchors = AlignByHash(story, timed, /*compiles_only=*/true);
  Pairs& pairs = out.pairs;
  auto forward = [&](int s0, int s1, int t0, int t1) {
    std::vector<int> s = Executions(story, s0, s1), t = Executions(timed, t0, t1);
    for (size_t i = 0;
         i < std::min(s.size(), t.size()) && SameCut(story[size_t(s[i])], timed[size_t(t[i])]);
         ++i) {
      pairs.emplace_back(s[i], t[i]);
    }
  };
  if (!anchors.empty()) {
    // The part before the first anchor is aligned backwards from it.
    std::vector<int> s = Executions(story, 0, anchors[0].first),
                     t = Executions(timed, 0, anchors[0].second);
    for (size_t i = 1; i <= std::min(s.size(), t.size()) &&
                       SameCut(story[size_t(s[s.size() - i])], timed[size_t(t[t.size() - i])]);
         ++i) {
      pairs.emplace_back(s[s.size() - i], t[t.size() - i]);
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
  if (t.empty() || s.size() < t.size()) {
    out.note =
        t.empty()
            ? ""
            : "not aligned with the other sources: it shows more executions than they do, and they have no compile in common";
    return out;
  }
  int fits = 0, place = 0;
  for (size_t offset = 0; offset + t.size() <= s.size(); ++offset) {
    bool fit = true;
    for (size_t i = 0; fit && i < t.size(); ++i)
      fit = SameCut(story[size_t(s[offset + i])], timed[size_t(t[i])]);
    if (fit) ++fits, place = int(offset);
  }
  if (fits == 0) {
    out.note =
        "not aligned with the other sources: they have no compile in common, and the order of the cuts differs";
    return out;
  }
  for (size_t i = 0; i < t.size(); ++i) pairs.emplace_back(s[size_t(place) + i], t[i]);
  out.note =
      fits == 1
          ? "aligned with the other sources by the order of the cuts"
          : fmt::format(
                "aligned by guess: no compile shows the position in the run, {} positions fit equally well, and the last one was chosen",
                fits);
  return out;
}

}  // namespace xlaprof
