// Finds what each compile cost that no XSpace measured. Under `xlaprof run`, the framework's times of single
// compilations are recorded. Otherwise, the metric CompileTime has the exact sum and number of all compiles
// so far, in every report. Between two reports with one compile, the difference is that compile's time.
#include <cstdlib>
#include <map>

#include "base/whole.h"
#include "profiler/import/join/join.h"

namespace xlaprof {
namespace {

// One in so many compiles may be counted by only one of the sources, such as one at the edge of a
// profile.
constexpr int64_t kMostNotCounted = 10;

struct Sum {
  int64_t samples = 0;
  double total_ns = 0;
};

absl::Status CostsOf(Store& store, int64_t process_id, const std::vector<Sum>& sums) {
  struct Compile {
    int64_t id = 0;
    OptInt dur_ns;
  };
  XP_TRY(std::vector<Compile> compiles,
         store.Collect(
             "SELECT id, dur_ns FROM compile WHERE process_id = ?1 ORDER BY ordinal",
             [](int64_t id, OptInt dur) { return Compile{id, dur}; }, process_id));
  if (sums.empty() || compiles.empty()) return absl::OkStatus();
  // The n-th sample belongs to the n-th compile only if both count the same compiles. If a source
  // counts a few more, only the mean of those that no source timed is known.
  if (sums.back().samples != int64_t(compiles.size())) {
    if (std::abs(sums.back().samples - int64_t(compiles.size())) >
        int64_t(compiles.size()) / kMostNotCounted)
      return absl::OkStatus();
    int64_t left = sums.back().samples;
    double rest_ns = sums.back().total_ns;
    for (const Compile& compile : compiles) {
      if (compile.dur_ns) --left, rest_ns -= double(*compile.dur_ns);
    }
    if (left <= 0 || rest_ns <= 0) return absl::OkStatus();
    return store.Run(
        "UPDATE compile SET dur_ns = ?2, dur_from = 'metrics_share' WHERE process_id = ?1 AND "
        "dur_ns IS NULL",
        process_id, Whole(rest_ns / double(left)));
  }
  Sum before;
  for (const Sum& sum : sums) {
    int64_t first = before.samples, count = sum.samples - before.samples;
    double rest_ns = sum.total_ns - before.total_ns;
    if (rest_ns < 0) return absl::OkStatus();  // reports of two processes, or cleared in between
    before = sum;
    int64_t unknown = 0;
    for (int64_t i = first; i < first + count; ++i) {
      if (compiles[size_t(i)].dur_ns) {
        rest_ns -= double(*compiles[size_t(i)].dur_ns);
      } else {
        ++unknown;
      }
    }
    if (unknown == 0 || rest_ns <= 0) continue;
    const char* from = count == 1 ? "metrics" : "metrics_share";
    for (int64_t i = first; i < first + count; ++i) {
      if (compiles[size_t(i)].dur_ns) continue;
      XP_TRY(store.Run("UPDATE compile SET dur_ns = ?2, dur_from = ?3 WHERE id = ?1",
                       compiles[size_t(i)].id, Whole(rest_ns / double(unknown)), from));
    }
  }
  return absl::OkStatus();
}

// Takes the times that `xlaprof run` recorded. The n-th time belongs to the n-th compile only if both count
// the same compiles; the first times may be missing.
absl::Status JoinObservedCosts(Store& store) {
  return store.Exec(
      "UPDATE compile SET dur_ns = o.dur_ns, dur_from = 'metrics' FROM observed_compile o, (SELECT id, "
      "process_id, row_number() OVER (PARTITION BY process_id ORDER BY ordinal) - 1 AS place, count(*) "
      "OVER (PARTITION BY process_id) AS compiles FROM compile) c WHERE c.id = compile.id AND "
      "compile.dur_ns IS NULL AND o.process_id = c.process_id AND o.ordinal = c.place AND c.compiles = "
      "(SELECT max(ordinal) + 1 FROM observed_compile WHERE process_id = c.process_id)");
}

}  // namespace

absl::Status JoinCosts(Store& store) {
  XP_TRY(JoinObservedCosts(store));
  std::map<int64_t, std::vector<Sum>> sums;  // by process
  XP_TRY(store.Each(
      "SELECT r.process_id, m.samples, m.accumulator FROM metric m JOIN metrics_report r ON r.id = "
      "m.report_id WHERE m.name = 'CompileTime' AND m.samples IS NOT NULL AND m.accumulator IS NOT "
      "NULL AND r.process_id IS NOT NULL ORDER BY m.samples, m.accumulator",
      [&](int64_t process_id, int64_t samples, double total_ns) {
        sums[process_id].push_back({samples, total_ns});
      }));
  for (const auto& [process_id, of_process] : sums) XP_TRY(CostsOf(store, process_id, of_process));
  return absl::OkStatus();
}

}  // namespace xlaprof
