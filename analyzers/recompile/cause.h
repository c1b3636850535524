// Why each compile of a site was another one: the new graph against the nearest earlier graph of
// the same site.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "analyzers/graph/graph_diff.h"
#include "analyzers/recompile/compile_sites.h"
#include "analyzers/run/user_code.h"

namespace xlaprof {

// The source that shows a cause: graphs in one of their printed forms, or JAX's log in its own
// words.
enum class SeenIn : uint8_t {
  kNothing,  // the cause is told from counts and sizes, or is not known
  kHlo,
  kStablehlo,
  kIrDump,
  kOptimizedHlo,
  kSignature,  // a list of inputs in a log
  kJaxExplanation,
};

// The role of a number in the graph, by which the remedy differs.
enum class ConstantKind : uint8_t {
  kInOp,            // an attribute of an op
  kScalarOrInput,   // a constant in one graph, and an input in the other
  kStaticArgument,  // an argument of a jitted function that is part of its key
  kCapturedArray,   // an array that the function captures
  kBound,           // a bound by which an op cuts a tensor to another size
  kIndex,           // the index of the part that an op selects
  kNode,            // a node by itself
};

// More that is known about a cause. Each alternative is one thing to say, with its values.
namespace note {
// Only one of the two programs exchanges data between devices, so its shapes are those of a part.
struct OnePartitioned {};
// The op that differs is a view. It is recorded where it is used, and reads a value of `place`.
struct ViewReads {
  SourcePlace place;
};
struct SameInputTypes {};        // the log shows inputs of the same types as before
struct AlikeButForThis {};       // graphs print alike, but for the counts that differ
struct SameProgram {};           // a program with the same operations and shapes came before
struct CompiledTwiceInARow {};   // the very same graph came before, and no other since
struct OtherSizeOfInputs {};     // told from sizes: as many inputs and results
struct OtherNumberOfResults {};  // told from counts: as many inputs
struct SameCounts {};            // as many inputs and results, of the same size as far as is known
// Graphs print alike, with as many inputs, results and donated bytes as far as is known.
struct PrintAlike {
  struct Node {
    std::string op, shape;
    SourcePlace place;  // the user's line; empty when unknown
    bool near = false;  // `place` is only the nearest that is known
    bool operator==(const Node&) const = default;
  };
  std::vector<Node> candidates;  // nodes in which the difference may be
};
// No step is marked, so each graph holds the steps before it too.
struct GrowsWithoutStepMark {
  int64_t first_nodes = 0, last_nodes = 0;  // of the first graph, and of the last
};
// How many other graphs were compiled since this one, and how many the runtime keeps.
struct OthersSince {
  int64_t others = 0;  // at most `kept`, at which counting ends
  int64_t kept = 0;
};
struct OtherCounts {
  int64_t inputs_before = 0, results_before = 0, inputs = 0, results = 0;
};
// The place at which the function is defined anew each time, as JAX prints it.
struct DefinedAt {
  std::string place;
};
// JAX's own words.
struct JaxSays {
  std::string quote;
};
}  // namespace note
using CauseNote =
    std::variant<std::monostate, note::OnePartitioned, note::ViewReads, note::SameInputTypes,
                 note::AlikeButForThis, note::SameProgram, note::CompiledTwiceInARow,
                 note::OtherSizeOfInputs, note::OtherNumberOfResults, note::SameCounts,
                 note::PrintAlike, note::GrowsWithoutStepMark, note::OthersSince, note::OtherCounts,
                 note::DefinedAt, note::JaxSays>;

// One thing that changed, enough by itself to make another graph.
struct RecompileCause {
  ReasonType type = ReasonType::kUnknown;
  // The op, argument or setting that differs; "" when unknown, or where it is an input's own name.
  std::string node;
  std::string before, after;  // both values; "" when unknown
  std::string scope, input;   // `input`: the parameter's own name, where it has one
  SourcePlace location;       // the user's line; empty when unknown
  bool near = false;          // `location` is only the nearest that is known
  bool is_input = false;
  bool names_input = false;  // it is called by the input's name and shape instead of by its op
  ConstantKind constant = ConstantKind::kInOp;  // of a constant_change
  std::string shape;                            // of the node; "" when unknown
  bool follows = false;                         // likely a consequence of another cause
  OptInt graph_before, graph_after;  // rows of table graph that were compared; empty: none were
  SeenIn seen_in = SeenIn::kNothing;
  CauseNote note;
  // Returns the name under which reports show the difference: an op, or `input` with its name and
  // shape.
  std::string Name() const;
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
  static absl::StatusOr<ReasonFinder> Make(const Run& run, const CompileSites& facts);
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
