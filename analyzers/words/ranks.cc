#include "analyzers/words/ranks.h"

#include <fmt/format.h>

#include <algorithm>

namespace xlaprof {

std::string RanksText(const std::optional<OnlyRanks>& ranks) {
  if (!ranks) return "";
  constexpr size_t kMostNamed = 8;
  const std::vector<int64_t>& all = ranks->ranks;
  std::string names;
  for (size_t i = 0; i < std::min(all.size(), kMostNamed); ++i)
    names += fmt::format("{}{}", i == 0 ? "" : ", ", all[i]);
  if (all.size() > kMostNamed) names += fmt::format(" and {} more", all.size() - kMostNamed);
  return fmt::format(" (only on rank{} {} of {} ranks)", all.size() == 1 ? "" : "s", names,
                     ranks->of);
}

}  // namespace xlaprof
