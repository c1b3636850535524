#include "profiler/import/text/mark_search.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/status.h"

namespace xlaprof {
namespace {

struct Mark {
  std::string_view text;
  size_t group = 0;
  int next = -1;  // another mark with the same pair
};

size_t PairAt(std::string_view text, size_t at) {
  return size_t(static_cast<unsigned char>(text[at])) << 8 |
         static_cast<unsigned char>(text[at + 1]);
}

}  // namespace

// This is the algorithm of Wu and Manber (1994). A window as long as the shortest mark moves over the
// text. The last two bytes in it show how far it can move without passing the beginning of a mark.
void EachMark(std::string_view text, std::span<const std::span<const std::string_view>> groups,
              std::vector<bool>& wanted, const std::function<void(size_t, size_t)>& found) {
  std::vector<Mark> marks;
  size_t window = 255;
  for (size_t group = 0; group < groups.size(); ++group) {
    for (std::string_view mark : groups[group]) {
      XP_CHECK(mark.size() >= 2);
      marks.push_back({mark, group});
      window = std::min(window, mark.size());
    }
  }
  if (marks.empty() || text.size() < window) return;
  constexpr size_t kPairs = 1 << 16;
  std::vector<uint8_t> steps(kPairs, uint8_t(window - 1));
  std::vector<int> first(kPairs, -1);  // by the pair at the window's end: the marks it may be
  for (size_t i = 0; i < marks.size(); ++i) {
    for (size_t at = 0; at + 2 <= window; ++at) {
      uint8_t& step = steps[PairAt(marks[i].text, at)];
      step = std::min(step, uint8_t(window - 2 - at));
    }
    marks[i].next = std::exchange(first[PairAt(marks[i].text, window - 2)], int(i));
  }
  for (size_t begin = 0; begin + window <= text.size();) {
    const size_t pair = PairAt(text, begin + window - 2);
    if (steps[pair] > 0) {
      begin += steps[pair];
      continue;
    }
    for (int i = first[pair]; i >= 0; i = marks[size_t(i)].next) {
      const Mark& mark = marks[size_t(i)];
      if (wanted[mark.group] && text.substr(begin).starts_with(mark.text)) found(mark.group, begin);
    }
    ++begin;
  }
}

std::vector<bool> GroupsIn(std::string_view text,
                           std::span<const std::span<const std::string_view>> groups) {
  std::vector<bool> found(groups.size()), wanted(groups.size(), true);
  EachMark(text, groups, wanted,
           [&](size_t group, size_t) { found[group] = true, wanted[group] = false; });
  return found;
}

}  // namespace xlaprof
