#include "analyzers/run/scope_totals.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>

#include "analyzers/run/contents.h"
#include "analyzers/run/launches.h"
#include "analyzers/run/scope_place.h"
#include "analyzers/run/tables.h"
#include "profiler/store/ordered_events.h"

namespace xlaprof {
namespace {

constexpr size_t kMostScopes = 12;

struct Sum {
  int64_t count = 0, total_ns = 0, self_ns = 0, open = 0;
};

struct OpenEvent {
  int64_t end_ns = 0;
  StringId scope = 0;  // 0: not a scope
};

// Adds up the scopes of one thread, whose events come by start, outer ones first.
class ThreadSums {
 public:
  ThreadSums(StringId scope, absl::flat_hash_map<StringId, Sum>& sums)
      : scope_(scope), sums_(sums) {}

  void Take(int64_t ts_ns, int64_t dur_ns, StringId name, StringId category) {
    CloseUntil(ts_ns);
    if (dur_ns < 0) return;  // it never ended
    if (!open_.empty() && open_.back().scope != 0) sums_[open_.back().scope].self_ns -= dur_ns;
    const StringId scope = category == scope_ ? name : 0;
    if (scope != 0) {
      Sum& sum = sums_[scope];
      ++sum.count;
      sum.self_ns += dur_ns;
      if (sum.open++ == 0) sum.total_ns += dur_ns;
    }
    open_.push_back({ts_ns + dur_ns, scope});
  }
  void CloseUntil(int64_t ts_ns) {
    while (!open_.empty() && open_.back().end_ns <= ts_ns) {
      if (open_.back().scope != 0) --sums_[open_.back().scope].open;
      open_.pop_back();
    }
  }

 private:
  const StringId scope_;
  absl::flat_hash_map<StringId, Sum>& sums_;
  std::vector<OpenEvent> open_;
};

absl::Status AddThreads(const Run& run, StringId scope, absl::flat_hash_map<StringId, Sum>& sums) {
  XP_TRY(std::vector<int64_t> tracks,
         run.store().Collect("SELECT id FROM track WHERE kind = 'host_thread' ORDER BY id",
                             [](int64_t id) { return id; }));
  XP_TRY(OrderedEvents events, OrderedEvents::Make(run.store(), kName | kCategory, false));
  for (const int64_t track : tracks) {
    XP_TRY(events.Open(track));
    ThreadSums thread(scope, sums);
    EventBatch batch;
    const ChunkArguments* arguments = nullptr;
    while (true) {
      XP_TRY(const bool more, events.Next(&batch, &arguments));
      if (!more) break;
      for (size_t i = 0; i < batch.size; ++i)
        thread.Take(batch.ts_ns[i], batch.dur_ns[i], batch.name[i], batch.category[i]);
    }
    thread.CloseUntil(INT64_MAX);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ScopeTotals> ScopeTotals::Of(const Run& run) {
  ScopeTotals totals;
  XP_TRY(const Contents* contents, run.Get<Contents>());
  const Store& store = run.store();
  const StringId scope = store.Find(TextOf(Category::kScope));
  if (contents->recordings == 0 || scope == 0) return totals;
  absl::flat_hash_map<StringId, Sum> sums;
  XP_TRY(AddThreads(run, scope, sums));
  std::vector<std::pair<StringId, Sum>> order;
  for (const auto& [name, sum] : sums) {
    if (sum.count > 0) order.emplace_back(name, sum);
  }
  std::ranges::sort(order, [&](const auto& a, const auto& b) {
    return a.second.total_ns != b.second.total_ns ? a.second.total_ns > b.second.total_ns
                                                  : store.Text(a.first) < store.Text(b.first);
  });
  for (const auto& [name, sum] : order) {
    if (totals.longest.size() == kMostScopes) break;
    ScopeTotal& total =
        totals.longest.emplace_back(ScopeTotal{.name = std::string(store.Text(name)),
                                               .count = sum.count,
                                               .total_ns = sum.total_ns,
                                               .self_ns = std::max<int64_t>(0, sum.self_ns)});
    XP_TRY(FillScopePlace(run, name, total.place));
  }
  totals.others = int64_t(order.size() - totals.longest.size());
  return totals;
}

}  // namespace xlaprof
