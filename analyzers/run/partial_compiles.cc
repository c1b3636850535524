#include "analyzers/run/partial_compiles.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analyzers/policy.h"
#include "analyzers/run/each_batch.h"
#include "analyzers/run/tables.h"
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

namespace {

// Returns jit_f for `HLO passes after layout assignment (jit_f)`, as XLA names pipelines of passes,
// and "" for other names.
std::string_view ModuleOf(std::string_view name) {
  if (!name.ends_with(')')) return {};
  const size_t open = name.rfind(" (");
  if (open == std::string_view::npos || open == 0) return {};
  const std::string_view module = name.substr(open + 2, name.size() - open - 3);
  return module.find_first_of(" ()") == std::string_view::npos ? module : std::string_view();
}

// Returns the modules in the names of events, by name.
absl::StatusOr<absl::flat_hash_map<StringId, std::string>> ModulesOfNames(const Store& store) {
  absl::flat_hash_map<StringId, std::string> modules;
  XP_TRY(store.Each("SELECT id, text FROM string WHERE text LIKE '% (%)'",
                    [&](int64_t id, std::string_view name) {
                      const std::string_view module = ModuleOf(name);
                      if (!module.empty()) modules[StringId(id)] = module;
                    }));
  return modules;
}

struct Passes {
  absl::flat_hash_set<StringId> names;
  int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
};

// Collects the passes of each module outside of the compilations that the profile recorded.
class Collector {
 public:
  Collector(StringId host, absl::flat_hash_map<StringId, std::string> module_of,
            const std::vector<CompileRow>& compiles)
      : host_(host), module_of_(std::move(module_of)) {
    for (const CompileRow& row : compiles) {
      if (row.ts_ns && row.dur_ns) recorded_.emplace_back(*row.ts_ns, *row.ts_ns + *row.dur_ns);
    }
  }

  void Take(const EventBatch& batch) {
    for (size_t i = 0; i < batch.size; ++i) {
      const int64_t begin_ns = batch.ts_ns[i];
      const int64_t end_ns = begin_ns + std::max<int64_t>(batch.dur_ns[i], 0);
      window_begin_ns_ = std::min(window_begin_ns_, begin_ns);
      window_end_ns_ = std::max(window_end_ns_, end_ns);
      if (batch.category[i] != host_) continue;
      const auto module = module_of_.find(batch.name[i]);
      if (module == module_of_.end() || IsRecorded(begin_ns, end_ns)) continue;
      Passes& passes = by_module_[module->second];
      passes.names.insert(batch.name[i]);
      passes.begin_ns = std::min(passes.begin_ns, begin_ns);
      passes.end_ns = std::max(passes.end_ns, end_ns);
    }
  }

  std::vector<OpenCompile> Finish() const {
    std::vector<OpenCompile> all;
    for (const auto& [module, passes] : by_module_) {
      if (int64_t(passes.names.size()) < policy::kPassPipelines) continue;
      all.push_back({.module = module,
                     .ts_ns = passes.begin_ns,
                     .dur_ns = passes.end_ns - passes.begin_ns,
                     .window_ns = window_end_ns_ - window_begin_ns_});
    }
    std::ranges::sort(all, [](const OpenCompile& a, const OpenCompile& b) {
      return std::pair(-a.dur_ns, a.module) < std::pair(-b.dur_ns, b.module);
    });
    return all;
  }

 private:
  bool IsRecorded(int64_t begin_ns, int64_t end_ns) const {
    return std::ranges::any_of(recorded_, [&](const auto& compile) {
      return begin_ns >= compile.first && end_ns <= compile.second;
    });
  }

  const StringId host_;
  std::vector<std::pair<int64_t, int64_t>> recorded_;
  const absl::flat_hash_map<StringId, std::string> module_of_;
  absl::flat_hash_map<std::string, Passes> by_module_;
  int64_t window_begin_ns_ = INT64_MAX, window_end_ns_ = INT64_MIN;
};

}  // namespace

absl::StatusOr<OpenCompiles> OpenCompiles::Of(const Run& run) {
  const Store& store = run.store();
  // Most profiles have no passes at all. Their events need not be read.
  XP_TRY(auto module_of, ModulesOfNames(store));
  if (int64_t(module_of.size()) < policy::kPassPipelines) return OpenCompiles();
  XP_TRY(const Compiles* compiles, run.Get<Compiles>());
  Collector collector(store.Find(TextOf(Category::kHost)), std::move(module_of), compiles->rows);
  EventScanner::Options options{.columns = kStart | kDuration | kName | kCategory};
  XP_TRY(store.Each("SELECT id FROM track WHERE kind = 'host_thread'",
                    [&](int64_t id) { options.track_ids.push_back(id); }));
  if (options.track_ids.empty()) return OpenCompiles();
  XP_TRY(EachBatch(store, std::move(options),
                   [&](const EventBatch& batch) { collector.Take(batch); }));
  return OpenCompiles{collector.Finish()};
}

}  // namespace xlaprof
