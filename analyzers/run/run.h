// One run for the rules. Every fact that is derived from its rows is computed once, when a rule
// first requests its type:
//
//   XP_TRY(const Steps* steps, run.Get<Steps>());
//   XP_TRY(const HostTimeline* host, run.Get<HostTimeline>(process_id));
//
// A fact is a struct with a static function `Of(const Run&)`, or `Of(const Run&, int64_t)` if there
// is one for each process. A test sets facts by hand instead.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

// The store must outlive the run and must not change meanwhile. One thread uses a run.
class Run {
 public:
  explicit Run(const Store& store);
  ~Run();

  // Returns the fact, which stays valid as long as the run. An error is not kept.
  template <class Fact, class... Key>
  absl::StatusOr<const Fact*> Get(Key... key) const {
    const FactKey wanted{&kTypeOf<Fact>, int64_t{key}...};
    if (const void* known = Find(wanted)) return static_cast<const Fact*>(known);
    XP_TRY(Fact fact, Fact::Of(*this, key...));
    return Keep(wanted, std::move(fact));
  }
  // Sets a fact, for tests. It must not have been requested before.
  template <class Fact, class... Key>
  void Set(Fact fact, Key... key) {
    Keep({&kTypeOf<Fact>, int64_t{key}...}, std::move(fact));
  }

  // Returns the whole run, whatever part is chosen: all that the store holds.
  const Run& whole() const;
  // Returns the part of the run that is analysed.
  const Slice& slice() const;

  // Facts are made from the following functions. Rules request facts instead.

  // Returns the rows of a table: those of the chosen part, or all rows of a whole run. `rest` is
  // what follows `FROM table`, with parameters ?1, ?2, ...
  template <class Row, class... Params>
  absl::StatusOr<std::vector<Row>> Rows(std::string_view rest = "", const Params&... params) const {
    return is_whole_ ? store_.AllRows<Row>(rest, params...) : store_.Rows<Row>(rest, params...);
  }
  // Returns the store, whose tables show the chosen part. With `main.` before its name, a table
  // shows all rows.
  const Store& store() const { return store_; }

 private:
  struct FactKey {
    const char* type = nullptr;
    int64_t key = 0;  // such as a process or a graph
    auto operator<=>(const FactKey&) const = default;
  };
  template <class Fact>
  static constexpr char kTypeOf = 0;  // its address stands for the type

  Run(const Store& store, bool is_whole);
  // Returns null if the fact has not been requested yet.
  const void* Find(const FactKey& key) const;
  template <class Fact>
  const Fact* Keep(const FactKey& key, Fact fact) const {
    auto* kept = new Fact(std::move(fact));
    Own(key, {kept, [](const void* owned) { delete static_cast<const Fact*>(owned); }});
    return kept;
  }
  using Owned = std::unique_ptr<const void, void (*)(const void*)>;
  void Own(const FactKey& key, Owned fact) const;

  const Store& store_;
  const bool is_whole_ = false;
  mutable std::map<FactKey, Owned> facts_;
  mutable std::unique_ptr<Run> whole_;
};

}  // namespace xlaprof
