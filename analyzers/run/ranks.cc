#include "analyzers/run/ranks.h"

#include <algorithm>
#include <utility>

#include "profiler/store/issue_codes.h"

namespace xlaprof {

std::optional<OnlyRanks> Ranks::Only(const std::set<int64_t>& processes,
                                     const std::string& function,
                                     const std::set<std::string>& formats) const {
  std::set<int64_t> here, all;
  for (const auto& [process, rank] : by_process) {
    all.insert(rank);
    if (processes.contains(process)) here.insert(rank);
  }
  const bool are_known =
      std::ranges::all_of(processes, [&](int64_t process) { return by_process.contains(process); });
  const auto of_function = compiled.find(function);
  if (!are_known || here.empty() || here.size() == all.size() || of_function == compiled.end())
    return {};
  std::set<int64_t> seen = here;
  for (const auto& [format, of_format] : of_function->second) {
    if (!formats.contains(format)) continue;
    for (const int64_t process : of_format) {
      if (const auto rank = by_process.find(process); rank != by_process.end())
        seen.insert(rank->second);
    }
  }
  if (seen.size() < all.size()) return {};
  return OnlyRanks{.ranks = {here.begin(), here.end()}, .of = int64_t(all.size())};
}

std::set<std::string> Ranks::FormatsOf(std::span<const int64_t> compiles) const {
  std::set<std::string> common;
  for (size_t i = 0; i < compiles.size(); ++i) {
    const auto formats = formats_of.find(compiles[i]);
    if (formats == formats_of.end()) return {};
    if (i == 0) common = formats->second;
    std::erase_if(common, [&](const std::string& one) { return !formats->second.contains(one); });
  }
  return common;
}

absl::StatusOr<std::set<std::string>> Ranks::FormatsOf(const Run& run, std::string_view table,
                                                       std::span<const int64_t> rows) const {
  std::set<std::string> formats;
  if (by_process.size() < 2) return formats;
  for (const int64_t row : rows) {
    XP_TRY(run.store().Each(
        "SELECT coalesce(s.format, '') FROM provenance p JOIN source s ON s.id = "
        "p.source_id WHERE p.table_name = ?1 AND p.row_id = ?2",
        [&](std::string format) { formats.insert(std::move(format)); }, table, row));
  }
  return formats;
}

absl::StatusOr<Ranks> Ranks::Of(const Run& run) {
  const Store& store = run.store();
  Ranks ranks;
  XP_TRY(store.Each("SELECT id, rank FROM process WHERE rank IS NOT NULL",
                    [&](int64_t process, int64_t rank) { ranks.by_process[process] = rank; }));
  if (ranks.by_process.size() < 2) return ranks;
  XP_TRY(store.Each(
      "SELECT c.id, c.process_id, coalesce(c.function, ''), coalesce(s.format, ''), EXISTS (SELECT 1 "
      "FROM import_issue i WHERE i.source_id = s.id AND i.code = ?1) FROM provenance "
      "p JOIN compile c ON c.id = p.row_id JOIN source s ON s.id = p.source_id WHERE p.table_name = "
      "'compile'",
      [&](int64_t compile, OptInt process, std::string function, std::string format, bool is_cut) {
        // Nobody knows what a file would show behind its end.
        if (!is_cut) ranks.compiled[std::move(function)][format].insert(process.value_or(0));
        ranks.formats_of[compile].insert(std::move(format));
      },
      issue_codes::kCutFile));
  return ranks;
}

}  // namespace xlaprof
