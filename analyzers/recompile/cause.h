// Finds why each compile of a site needed a new program, by comparing its graph with the nearest
// earlier graph of the same site.
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
  kNothing,  // the cause comes from counts and sizes, or is not known
  kHlo,
  kStablehlo,
  kIrDump,
  kOperations,  // TorchTPU's operations in TORCH_TRACE
  kOptimizedHlo,
  kSignature,  // a list of inputs in a log
  kJaxExplanation,
  kCacheKey,  // TorchTPU's key of a program, of which only the part about sizes differs
  kGuard,     // torch.compile's own reason: a check of an earlier program failed
};

// The role of a number in the graph, on which the remedy depends.
enum class ConstantKind : uint8_t {
  kInOp,            // an attribute of an op
  kScalarOrInput,   // a constant in one graph, and an input in the other
  kStaticArgument,  // an argument of a jitted function that is part of its key
  kCapturedArray,   // an array that the function captures
  kBound,           // a bound by which an op cuts a tensor to another size
  kIndex,           // the index of the part that an op selects
  kWrittenPart,     // the position at which a part of a tensor is written, which a pad does
  kNode,            // a node by itself
  // Values that a function under torch.compile reads, and that its guards compare.
  kArgument,         // an argument
  kModuleAttribute,  // an attribute of a module or of another object
  kTrainingMode,     // whether a module trains
  kGlobal,           // a global variable
  kClosure,          // a variable that an inner function captures
  kPartial,          // an argument that functools.partial sets
  kReadNumber,       // a number that was read from a tensor, at which the graph broke
  kNeededNumber,     // a number that is a tensor in the program, and of which an op needs the value
};

// Further facts about a cause. Each alternative is one statement, with its values.
namespace note {
// Only one of the two programs exchanges data between devices, so its shapes are those of a part.
struct OnePartitioned {};
// The op that differs is a view. It is recorded where it is used, and reads a value of `place`.
struct ViewReads {
  SourcePlace place;
};
struct SameInputTypes {};        // the log shows inputs of the same types as before
struct AlikeButForThis {};       // graphs print alike, except for the counts that differ
struct SameProgram {};           // a program with the same operations and shapes came before
struct CompiledTwiceInARow {};   // the very same graph came before, and no other since
struct OtherSizeOfInputs {};     // from sizes: the numbers of inputs and results are equal
struct OtherNumberOfResults {};  // from counts: the numbers of inputs are equal
struct SameCounts {};            // all known numbers and sizes of inputs and results are equal
// Graphs print alike, and all known numbers of inputs, results and donated bytes are equal.
struct PrintAlike {
  struct Node {
    std::string op, shape;
    SourcePlace place;  // the user's line; empty if unknown
    bool near = false;  // `place` is only the nearest known one
    bool operator==(const Node&) const = default;
  };
  std::vector<Node> candidates;  // nodes in which the difference may be
};
// No step is marked, so each graph holds the steps before it too.
struct GrowsWithoutStepMark {
  int64_t first_nodes = 0, last_nodes = 0;  // nodes of the first and the last graph
};
// The number of other graphs compiled since this one, and the number that the runtime keeps.
struct OthersSince {
  int64_t others = 0;  // at most `kept`, at which counting ends
  int64_t kept = 0;
};
// Programs of one function have other inputs. `before` and `after` each name one that the other
// program does not have.
struct OtherInputs {};
// JAX forgot all of its programs, because the program cleared the caches.
struct CachesCleared {};
struct OtherCounts {
  int64_t inputs_before = 0, inputs = 0;
  OptInt results_before, results;  // empty: the log does not count them
  bool operator==(const OtherCounts&) const = default;
};
// JAX sees another function object. `place` is the definition of the code in it, as JAX prints it.
struct DefinedAt {
  std::string place;
  bool makes_the_object = false;  // the definition itself is executed each time, as a lambda is
};
// A loop outside of jit compiled again for inputs of the same types, so its body is another function
// object.
struct OtherLoopBody {};
// JAX explains differences of types, structure and settings, and found none. Static arguments are
// all that is left of its key.
struct OnlyStaticArgumentsAreLeft {};
// Tensors that the first graph makes are inputs of this one, as the state of an optimizer.
struct NewState {
  bool of_optimizer = false;  // an optimizer's code recorded them
};
// The program takes `more` inputs more each time, from `first` to `last`. These are 0 if only the
// difference is known.
struct GrowingInputs {
  int64_t more = 0, first = 0, last = 0;
};
// Graphs print alike, except for the number of inputs. Scalars that are inputs are recorded at
// these places, and some of them may be equal.
struct ScalarInputs {
  std::vector<SourcePlace> places;
};
// JAX's own words.
struct JaxSays {
  std::string quote;
};
// The check that failed, in torch.compile's own words.
struct GuardSays {
  std::string quote;
};
}  // namespace note
using CauseNote =
    std::variant<std::monostate, note::OnePartitioned, note::ViewReads, note::SameInputTypes,
                 note::AlikeButForThis, note::SameProgram, note::CompiledTwiceInARow,
                 note::OtherSizeOfInputs, note::OtherNumberOfResults, note::SameCounts,
                 note::PrintAlike, note::GrowsWithoutStepMark, note::OthersSince, note::OtherInputs,
                 note::CachesCleared, note::OtherCounts, note::DefinedAt, note::NewState,
                 note::GrowingInputs, note::ScalarInputs, note::OtherLoopBody,
                 note::OnlyStaticArgumentsAreLeft, note::JaxSays, note::GuardSays>;

// One thing that changed, enough by itself to make another graph.
struct RecompileCause {
  ReasonType type = ReasonType::kUnknown;
  // The op, argument or setting that differs; "" if it is unknown or an input with a name.
  std::string node;
  std::string before, after;  // both values; "" if unknown, or if a graph does not contain the op
  std::string of_class;       // whose static fields these are; "": they are something else
  std::string scope, input;   // `input`: the parameter's own name, if it has one
  SourcePlace location;       // the user's line; empty when unknown
  bool near = false;          // `location` is only the nearest that is known
  SourcePlace library;        // the library's line that recorded the op; empty if the user's did
  bool is_input = false;
  bool is_size_inside = false;  // the size of an op inside the graph, which something else decides
  // The read that decides this size, or where the value that it reads was made; empty if unknown.
  SourcePlace size_read;
  bool is_made_of_read = false;  // for an input: an op on the CPU made it of what is read there
  // For a changed input: the older graph has a result of its new shape, so the input may be a cache
  // that the program appends to. Nothing if no graph was compared.
  std::optional<bool> may_be_result;
  bool has_same_ops = false;  // for an op_change: only operands of ops, or their order, differ
  bool names_input = false;   // reports use the input's name and shape, not its op
  ConstantKind constant = ConstantKind::kInOp;  // for a constant_change
  // For kScalarOrInput: another scalar has the number's value. Nothing if no value is printed.
  std::optional<bool> has_equal_scalar;
  std::string shape;                 // shape of the node; "" if unknown
  bool is_dynamic = false;           // the new program takes other values of it, too
  bool follows = false;              // likely a consequence of another cause
  bool is_carried = false;           // seen for other compiles of the site, whose counts are equal
  OptInt graph_before, graph_after;  // the compared rows of table graph, if any
  // The rows of table graph for the programs with `before` and `after`, if a source states the cause.
  // Each takes only that value.
  OptInt program_before, program_after;
  SeenIn seen_in = SeenIn::kNothing;
  CauseNote note;
  // Returns the name under which reports show the difference: an op, or `input` with its name and
  // shape.
  std::string Name() const;
  std::string Key() const;  // equal for the same change in other compiles
  // Returns whether a scalar is no input of its own any more, because it became 0, 1 or equal to
  // another, or is one again. Such numbers have one remedy, at whatever line they are.
  bool is_scalar_value() const;
  // Returns whether a guard compares a text, as in name == 'relu'. No tensor can replace it.
  bool compares_text() const {
    return seen_in == SeenIn::kGuard && (before.starts_with('\'') || before.starts_with('"'));
  }
  // Returns whether only the strength of the type changed: a Python number has a weak type.
  bool is_weak_type() const;
};

struct CompileReason {
  // At least one. The first is the most important.
  std::vector<RecompileCause> causes;
  int64_t differing_nodes = 0;  // number of nodes that differ; 0 if no graph was compared
};

// Finds reasons in the chosen part of one store. Keeps the graphs that it loaded.
class ReasonFinder {
 public:
  static absl::StatusOr<ReasonFinder> Make(const Run& run, const CompileSites& facts);
  ReasonFinder(ReasonFinder&&) noexcept;
  ~ReasonFinder();

  // Returns whether the source states why it made this compile.
  bool IsStated(const CompileFact& compile) const;
  // Returns why compile `index` (at least 1) of a site could not reuse an earlier program.
  absl::StatusOr<CompileReason> Why(const CompileSite& site, size_t index);

  // Returns why the first known compile of a site is a recompile. Either its source names an
  // earlier compile, or its graph prints like one that its process compiled before under another
  // kind of cut. Returns nothing if neither is known.
  absl::StatusOr<std::optional<CompileReason>> WhyFirst(const CompileSite& site);

 private:
  struct Impl;
  // Does the same as Why, but does not know when caches were cleared.
  absl::StatusOr<CompileReason> WithoutClears(const CompileSite& site, size_t index);
  // Returns a cut_kind_change, or nothing if there was no such graph.
  absl::StatusOr<std::optional<RecompileCause>> OtherCut(const CompileSite& site);
  explicit ReasonFinder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace xlaprof
