// Why each compile of a site was another one: the new graph against the nearest earlier graph of
// the same site.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analyzers/graph/graph_diff.h"
#include "analyzers/graph/user_code.h"
#include "analyzers/recompile/recompile_facts.h"

namespace xlaprof {

// One thing that changed, enough by itself to make another graph.
struct RecompileCause {
  ReasonType type = ReasonType::kUnknown;
  std::string node, before, after;  // what differs, with both values; "" when unknown
  std::string scope, input;         // `input`: the parameter's own name, where it has one
  SourcePlace location;             // the user's line; empty when unknown
  bool near = false;                // `location` is only the nearest that is known
  bool is_input = false;
  bool resized = false;              // the node's result has another shape
  bool captures_array = false;       // a constant that is no scalar, of `shape`
  std::string shape;                 // of the node; "" when unknown
  bool follows = false;              // likely a consequence of another cause
  OptInt graph_before, graph_after;  // rows of table graph that were compared; empty: none were
  std::string seen_in;      // form of the graphs that showed it, for people; "" when no graph did
  std::string note;         // what else is to be said, in a sentence
  std::string Key() const;  // equal for the same change in other compiles
};

struct CompileReason {
  std::vector<RecompileCause>
      causes;                   // at least one; the first is the one to tell if only one is told
  int64_t differing_nodes = 0;  // by which its graph differs; 0: no graph was compared
};

// Finds reasons; keeps the graphs that it loaded. One store, one slice.
class ReasonFinder {
 public:
  static absl::StatusOr<ReasonFinder> Make(const Store& store, const RecompileFacts& facts);
  ReasonFinder(ReasonFinder&&) noexcept;
  ~ReasonFinder();

  // Why compile `index` (at least 1) of a site was not answered by an earlier one.
  absl::StatusOr<CompileReason> Why(const CompileSite& site, size_t index);

  // Why the first compile that was seen of a site is not its first: its source names an earlier
  // one, or it repeats, under another kind of cut, a graph that was compiled before in its process
  // and prints alike. Empty: as far as is known, it is.
  absl::StatusOr<std::optional<CompileReason>> WhyFirst(const CompileSite& site);

 private:
  struct Impl;
  // A cut_kind_change; empty if there was no such graph.
  absl::StatusOr<std::optional<RecompileCause>> OtherCut(const CompileSite& site);
  explicit ReasonFinder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace xlaprof
