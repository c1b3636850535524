#include "analyzers/run/cut_compiles.h"

#include <map>

#include "profiler/store/issue_codes.h"

namespace xlaprof {

absl::StatusOr<CutCompiles> CutCompiles::Of(const Run& run) {
  const Store& store = run.store();
  std::map<int64_t, int64_t> cut_at;  // by source: a byte behind which nothing was read
  XP_TRY(store.Each(
      "SELECT source_id, first_offset FROM import_issue WHERE code = ?1",
      [&](int64_t source, OptInt offset) { cut_at[source] = offset.value_or(INT64_MAX); },
      issue_codes::kCutFile));
  CutCompiles cut;
  if (cut_at.empty()) return cut;
  // Something may also be missing in the middle of a file. Facts then come after it.
  XP_TRY(store.Each("SELECT source_id, max(offset) FROM provenance GROUP BY source_id",
                    [&](int64_t source, OptInt last) {
                      const auto at = cut_at.find(source);
                      if (at != cut_at.end() && last && *last > at->second) cut_at.erase(at);
                    }));
  std::set<int64_t> whole;
  XP_TRY(store.Each("SELECT row_id, source_id FROM provenance WHERE table_name = 'compile'",
                    [&](int64_t compile, int64_t source) {
                      (cut_at.contains(source) ? cut.ids : whole).insert(compile);
                    }));
  for (const int64_t compile : whole) cut.ids.erase(compile);
  return cut;
}

}  // namespace xlaprof
