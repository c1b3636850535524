// Carries the facts that a lazy runtime in this process announces into the store: graphs, compiles,
// executions, transfers, fallbacks, untied weights, ends of loaders and steps. Internal to
// profiler/record.
//
// Facts wait in memory until the recording's thread commits. If a process is killed, facts
// announced after its last commit are lost, unlike its events.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <deque>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

#include "core/observe/observer.h"
#include "profiler/store/store.h"

namespace xlaprof::record {

using RuntimeFact = std::variant<observe::Graph, observe::Compilation, observe::Execution,
                                 observe::HostWait, observe::Transfer, observe::Fallback,
                                 observe::Untied, observe::LoaderEnd, observe::Step>;

// Collects facts. Any thread may call these functions.
class RuntimeFacts {
 public:
  static RuntimeFacts& Get();  // never destroyed: threads may outlive main
  void Add(RuntimeFact fact);
  // Returns all facts since the last call.
  std::vector<RuntimeFact> Take();
  // Puts facts back, before those that came since they were taken.
  void PutBack(std::vector<RuntimeFact> facts);
  // The mutex, which is held across a fork so that no other thread holds it in the child.
  std::mutex& mutex() { return mutex_; }

 private:
  std::mutex mutex_;
  std::vector<RuntimeFact> facts_;
};

// Writes the facts of one recording. `origin_ns` is CLOCK_MONOTONIC at the store's time 0.
class RuntimeFactWriter {
 public:
  RuntimeFactWriter(int64_t process_id, int64_t origin_ns)
      : process_id_(process_id), origin_ns_(origin_ns) {}

  // Takes the announced facts and writes them.
  absl::Status Write(Store& store);
  bool has_news() const { return !written_.empty(); }
  void Committed();
  // Tells the writer that the store was reopened at its last commit.
  void RolledBack();

 private:
  // The tables whose facts belong to a step and share one order.
  enum Table { kCompiles, kExecutions, kTransfers, kFallbacks, kTables };
  struct Numbers {  // the numbers of the next fact and step
    int64_t ordinal = 0, step = 0;
    int64_t first_of_step[kTables] = {};  // ids
  };
  template <class Row>
  absl::StatusOr<int64_t> AddFact(Store& store, Table table, Row row, const observe::Stack& stack);
  absl::Status Add(Store& store, const observe::Graph& graph);
  absl::Status Add(Store& store, const observe::Compilation& compile);
  absl::Status Add(Store& store, const observe::Execution& execution);
  absl::Status Add(Store& store, const observe::HostWait& wait);
  absl::Status Add(Store& store, const observe::Transfer& transfer);
  absl::Status Add(Store& store, const observe::Fallback& fallback);
  absl::Status Add(Store& store, const observe::Untied& untied);
  absl::Status Add(Store& store, const observe::LoaderEnd& end);
  absl::Status Add(Store& store, const observe::Step& step);
  absl::StatusOr<OptInt> GraphOf(Store& store, const std::string& hash);
  absl::StatusOr<OptInt> SiteOf(Store& store, const observe::Stack& stack);
  absl::StatusOr<OptInt> StackOf(Store& store, const observe::Stack& stack);

  const int64_t process_id_, origin_ns_;
  std::vector<RuntimeFact> written_;  // facts written since the last commit
  Numbers now_, committed_;
  // Ids of what was written, by hash and by the frames' places.
  using LineKey = std::pair<const void*, uint32_t>;  // file, line
  absl::flat_hash_map<std::string, int64_t> graphs_;
  absl::flat_hash_map<std::vector<LineKey>, int64_t> stacks_;
  absl::flat_hash_map<LineKey, int64_t> sites_;
  // Rows of the newest executions, by run. The host waits only for these.
  std::deque<std::pair<uint64_t, int64_t>> newest_;
};

}  // namespace xlaprof::record
