#include "analyzers/finding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analyzers/analyzer.h"

namespace xlaprof {

std::string QueryOf(const Evidence& evidence) {
  if (!evidence.rows.empty()) {
    return fmt::format("SELECT * FROM {} WHERE id IN ({})", evidence.table,
                       fmt::join(evidence.rows, ", "));
  }
  if (!evidence.ts_ns) return fmt::format("SELECT * FROM {}", evidence.table);
  const int64_t dur_ns = std::max<int64_t>(1, evidence.dur_ns.value_or(0));
  return fmt::format("SELECT * FROM {} WHERE ts_ns < {} AND ts_ns + dur_ns > {}", evidence.table,
                     int64_t(uint64_t(*evidence.ts_ns) + uint64_t(dur_ns)), *evidence.ts_ns);
}

std::optional<int64_t> Finding::total_saving_ns() const {
  if (!saving_ns && consequent_saving_ns == 0) return {};
  return saving_ns.value_or(0) + consequent_saving_ns;
}

std::string_view Finding::kind() const { return analyzer == nullptr ? "" : analyzer->name; }

}  // namespace xlaprof
