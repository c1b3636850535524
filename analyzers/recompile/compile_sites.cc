#include "analyzers/recompile/compile_sites.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analyzers/policy.h"
#include "analyzers/recompile/graph_parts.h"
#include "analyzers/recompile/outside_jit.h"
#include "analyzers/run/call_stacks.h"
#include "analyzers/run/graph_nodes.h"
#include "analyzers/run/jax_operation.h"
#include "analyzers/run/program_executions.h"
#include "analyzers/run/tables.h"
#include "analyzers/run/work_unit.h"
#include "profiler/store/cut_kind.h"
#include "profiler/vocabulary/code.h"

namespace xlaprof {
namespace {

// The forms of one hash that list nodes, and the counts of inputs and results that its sources
// know.
struct KnownGraph {
  OptInt input_count, output_count, ir_nodes;
  std::vector<std::pair<PrintedForm, int64_t>> forms;
};

bool ListsNodes(const GraphRow& graph) {
  return graph.printed_as && graph.node_count.value_or(1) > 0;
}

absl::flat_hash_map<std::string, KnownGraph> KnownByHash(const Graphs& graphs) {
  absl::flat_hash_map<std::string, KnownGraph> by_hash;
  for (const auto& [id, graph] : graphs.by_id) {
    if (!graph.hash) continue;
    KnownGraph& known = by_hash[*graph.hash];
    const bool printed = ListsNodes(graph);
    // A dump counts parameter nodes, and several of them may be one parameter. So a source that
    // does not print the graph is preferred.
    if (graph.input_count && (!known.input_count || !printed))
      known.input_count = graph.input_count;
    if (graph.output_count && (!known.output_count || !printed))
      known.output_count = graph.output_count;
    if (graph.printed_as == PrintedForm::kIrText) known.ir_nodes = graph.node_count;
    if (printed) known.forms.emplace_back(*graph.printed_as, id);
  }
  return by_hash;
}

// The rows of one process, in the chosen part.
struct ProcessRows {
  std::vector<const StepRow*> steps;  // in order
  std::vector<const CompileRow*> compiles;
  std::vector<const ExecutionRow*> executions;
};

absl::StatusOr<std::map<int64_t, ProcessRows>> RowsByProcess(const Run& run) {
  XP_TRY(const StepRows* steps, run.Get<StepRows>());
  XP_TRY(const Compiles* compiles, run.Get<Compiles>());
  XP_TRY(const Executions* executions, run.Get<Executions>());
  std::map<int64_t, ProcessRows> by_process;
  for (const StepRow& row : steps->rows) {
    if (row.process_id) by_process[*row.process_id].steps.push_back(&row);
  }
  for (const CompileRow& row : compiles->rows) {
    if (row.process_id) by_process[*row.process_id].compiles.push_back(&row);
  }
  for (const ExecutionRow& row : executions->rows) {
    if (row.process_id) by_process[*row.process_id].executions.push_back(&row);
  }
  for (auto& [process_id, rows] : by_process) {
    std::ranges::stable_sort(rows.steps, [](const StepRow* a, const StepRow* b) {
      return std::tie(a->ordinal, a->ts_ns, a->number) < std::tie(b->ordinal, b->ts_ns, b->number);
    });
    std::ranges::stable_sort(rows.executions, std::less<>(), &ExecutionRow::ordinal);
    std::ranges::stable_sort(rows.compiles, std::less<>(), &CompileRow::ordinal);
  }
  return by_process;
}

// The number of each step, counted from the start of the process.
using StepIndex = absl::flat_hash_map<int64_t, int64_t>;  // by row of table step

StepIndex NumberSteps(const ProcessRows& rows, StepsSeen* steps) {
  StepIndex index;
  if (rows.steps.empty()) return index;
  for (const StepRow* row : rows.steps) {
    if (steps->name.empty()) steps->name = row->name.value_or("");
  }
  // If a window or the chosen part begins in the middle of a run, its first step is not warm-up.
  const StepRow& first = *rows.steps.front();
  const int64_t offset =
      first.number && *first.number >= policy::kMinWarmUpSteps ? *first.number : first.ordinal;
  for (size_t i = 0; i < rows.steps.size(); ++i) {
    const int64_t step = offset + static_cast<int64_t>(i);
    index[rows.steps[i]->id] = step;
    if (rows.steps[i]->number) steps->number[step] = *rows.steps[i]->number;
  }
  steps->known = true;
  steps->first = offset;
  steps->last = offset + static_cast<int64_t>(rows.steps.size()) - 1;
  steps->from = StepsFrom::kSteps;
  return index;
}

// An ordinal of the process's facts at which a step is known to go on (or, without steps, ends). A
// compile belongs to the step of the first mark that is not before it.
struct StepMark {
  int64_t ordinal = 0, step = 0;
};

std::vector<StepMark> MarksOfSteps(const ProcessRows& rows, const StepIndex& index) {
  std::vector<StepMark> marks;
  const auto add = [&](const auto& of_table) {
    for (const auto* row : of_table) {
      if (!row->step_id) continue;
      if (const auto at = index.find(*row->step_id); at != index.end())
        marks.push_back({row->ordinal, at->second});
    }
  };
  add(rows.executions);
  add(rows.compiles);
  std::ranges::stable_sort(marks, std::less<>(), &StepMark::ordinal);
  return marks;
}

// Returns a mark for each execution that ends a step, or for each execution if none does.
std::vector<StepMark> MarksOfExecutions(const ProcessRows& rows, StepsSeen* steps) {
  std::vector<StepMark> marks;
  for (const StepsFrom from : {StepsFrom::kStepEndingExecutions, StepsFrom::kExecutions}) {
    for (const ExecutionRow* row : rows.executions) {
      if (from == StepsFrom::kExecutions || (row->cause && EndsStep(*row->cause)))
        marks.push_back({row->ordinal, static_cast<int64_t>(marks.size())});
    }
    if (marks.empty()) continue;
    steps->known = true;
    steps->first = 0;
    steps->last = static_cast<int64_t>(marks.size()) - 1;
    steps->from = from;
    break;
  }
  return marks;
}

// Returns whether the executions that were seen show when a compile of torch.compile happened: its
// program is the next to run. A profile of a few steps does not show what ran after an earlier compile.
bool RunsNext(const ProcessRows& rows, const CompileFact& compile) {
  const auto next = std::ranges::upper_bound(rows.executions, compile.ordinal, std::less<>(),
                                             &ExecutionRow::ordinal);
  if (next == rows.executions.end() || !compile.graph_id || (*next)->graph_id != compile.graph_id)
    return false;
  const auto compiled =
      std::ranges::upper_bound(rows.compiles, compile.ordinal, std::less<>(), &CompileRow::ordinal);
  return compiled == rows.compiles.end() || (*compiled)->ordinal > (*next)->ordinal;
}

// Returns whether the executions of a process begin with a program of torch.compile that was compiled
// before them, so that they are those of a later part of the run.
bool BeginsLater(const ProcessRows& rows, const std::vector<CompileFact*>& compiles) {
  if (rows.executions.empty() || rows.executions.front()->cause != CutKind::kCompiledFunction)
    return false;
  const int64_t first = rows.executions.front()->ordinal;
  return std::ranges::none_of(compiles, [&](const CompileFact* compile) {
    return compile->ordinal < first && RunsNext(rows, *compile);
  });
}

// The compiles of jitted functions of a process, which show whether an execution was seen between a
// compile and the next one of the same function. A function that is compiled runs at once, so if there is
// none, the profile does not cover that part of the run.
class CallsSeen {
 public:
  explicit CallsSeen(const ProcessRows& rows) : rows_(rows) {
    for (const CompileRow* row : rows.compiles) {
      if (row->function) of_function_[*row->function].push_back(row->ordinal);
    }
  }

  bool Runs(const CompileFact& compile) const {
    const auto next = std::ranges::upper_bound(rows_.executions, compile.ordinal, std::less<>(),
                                               &ExecutionRow::ordinal);
    if (next == rows_.executions.end()) return false;
    const auto of_function = of_function_.find(compile.function);
    if (of_function == of_function_.end()) return true;
    const auto again = std::ranges::upper_bound(of_function->second, compile.ordinal);
    return again == of_function->second.end() || (*next)->ordinal < *again;
  }

 private:
  const ProcessRows& rows_;
  absl::flat_hash_map<std::string, std::vector<int64_t>> of_function_;  // ordinals, ascending
};

// Places compiles in the steps that `xlaprof run` counted, even if no other source shows most of them, and
// in the time of the run.
class Progress {
 public:
  // `rows` are those of the process in the order of their times, and `compiles` is how many compiles the
  // sources show. Returns nothing if something else was counted as a compile.
  static std::optional<Progress> Of(const ObservedProcessRow* process,
                                    std::vector<ObservedProgressRow> rows, int64_t compiles) {
    if (process == nullptr || process->dur_ns <= 0) return {};
    if (rows.empty() || rows.back().compiles != compiles) return {};
    const bool is_ascending = std::ranges::is_sorted(rows, {}, &ObservedProgressRow::steps) &&
                              std::ranges::is_sorted(rows, {}, &ObservedProgressRow::compiles);
    if (!is_ascending || rows.front().steps < 0) return {};
    return Progress(*process, std::move(rows));
  }

  int64_t steps() const { return rows_.back().steps; }  // 0: none was counted
  // Sets the steps of the compile that has this place in the order of all, from 0.
  void PlaceInSteps(int64_t place, CompileFact& compile) const {
    const auto after = After(place);
    const int64_t last = steps() - 1;
    compile.step = after == rows_.begin() ? 0 : std::min(std::prev(after)->steps, last);
    compile.latest_step = after == rows_.end() ? last : std::min(after->steps, last);
  }
  void PlaceInTime(int64_t place, CompileFact& compile) const {
    const auto share_at = [&](const ObservedProgressRow& row) {
      return (double(row.ts_ns) - double(begin_ns_)) / double(dur_ns_);
    };
    const auto after = After(place);
    if (after != rows_.begin()) compile.earliest_share = share_at(*std::prev(after));
    if (after != rows_.end()) compile.latest_share = share_at(*after);
  }

 private:
  using Rows = std::vector<ObservedProgressRow>;

  Progress(const ObservedProcessRow& process, Rows rows)
      : begin_ns_(process.ts_ns), dur_ns_(process.dur_ns), rows_(std::move(rows)) {}
  // Returns the first row that counts the compile.
  Rows::const_iterator After(int64_t place) const {
    return std::ranges::upper_bound(rows_, place, {}, &ObservedProgressRow::compiles);
  }

  int64_t begin_ns_, dur_ns_;  // of the process
  Rows rows_;
};

// Sets the step of each compile of one process, by the rows that lie in steps.
void PlaceByRows(const ProcessRows& rows, const std::vector<CompileFact*>& compiles,
                 const absl::flat_hash_map<int64_t, OptInt>& step_of_compile, StepsSeen* steps) {
  const StepIndex index = NumberSteps(rows, steps);
  std::vector<StepMark> marks;
  if (steps->known) {
    marks = MarksOfSteps(rows, index);
    // If no fact lies in a step, the steps cannot place compiles.
    if (marks.empty()) *steps = StepsSeen{.name = steps->name};
  }
  if (!steps->known) {
    marks = MarksOfExecutions(rows, steps);
    steps->shows_start = !BeginsLater(rows, compiles);
  }
  if (!steps->known) return;
  const CallsSeen calls(rows);
  std::vector<CompileFact*> before_seen;
  for (CompileFact* compile : compiles) {
    if (const OptInt step_id = step_of_compile.at(compile->id)) {
      if (const auto at = index.find(*step_id); at != index.end()) {
        compile->step = at->second;
        continue;
      }
    }
    const auto mark =
        std::ranges::lower_bound(marks, compile->ordinal, std::less<>(), &StepMark::ordinal);
    compile->step = mark == marks.end() ? steps->last : mark->step;
    if (compile->cause == CutKind::kCompiledFunction) compile->is_placed = RunsNext(rows, *compile);
    if (compile->cause == CutKind::kCall && steps->from != StepsFrom::kSteps) {
      compile->is_placed = calls.Runs(*compile);
      if (mark != marks.begin()) continue;
      before_seen.push_back(compile);
      if (!compile->is_placed) steps->shows_start = false;
    }
  }
  // If the first executions are not seen, those of the last compiles before them are not, either.
  if (steps->shows_start) return;
  for (CompileFact* compile : before_seen) {
    if (!RunsNext(rows, *compile)) compile->is_placed = false;
  }
}

// Sets the step of each compile of one process. What `xlaprof run` counted is less exact than the rows of
// sources, but a profile shows only a few steps of the run.
void PlaceInSteps(const ProcessRows& rows, const std::vector<CompileFact*>& compiles,
                  const absl::flat_hash_map<int64_t, OptInt>& step_of_compile,
                  const std::optional<Progress>& progress, StepsSeen* steps) {
  PlaceByRows(rows, compiles, step_of_compile, steps);
  const bool is_part = progress && 2 * steps->count() < progress->steps();
  if (is_part)
    *steps = StepsSeen{
        .known = true, .last = progress->steps() - 1, .name = steps->name, .from = StepsFrom::kSteps};
  for (size_t i = 0; i < compiles.size(); ++i) {
    compiles[i]->latest_step = compiles[i]->step;
    if (progress) progress->PlaceInTime(int64_t(i), *compiles[i]);
    if (!is_part) continue;
    compiles[i]->is_placed = true;
    progress->PlaceInSteps(int64_t(i), *compiles[i]);
  }
}

CompileFact FactOf(const CompileRow& row, const GraphRow* graph,
                   const absl::flat_hash_map<std::string, KnownGraph>& known_by_hash) {
  CompileFact fact{.id = row.id,
                   .process_id = row.process_id.value_or(0),
                   .ordinal = row.ordinal,
                   .graph_id = row.graph_id,
                   .site_id = row.site_id,
                   .stack_id = row.stack_id,
                   .track_id = row.track_id,
                   .dur_ns = row.dur_ns,
                   .ts_ns = row.ts_ns,
                   .trace_ns = row.trace_ns,
                   .persistent_hit = row.persistent_hit,
                   .cause = row.cause.value_or(CutKind::kUnknown),
                   .function = row.function.value_or(""),
                   .dur_from = row.dur_from.value_or(TimeSource::kUnknown),
                   .input_bytes = row.input_bytes,
                   .output_bytes = row.output_bytes,
                   .alias_bytes = row.alias_bytes,
                   .inferred = row.inferred};
  fact.caller_known =
      row.stack_id && (fact.cause == CutKind::kCall || fact.cause == CutKind::kOperation);
  if (graph == nullptr) return fact;
  fact.hash = graph->hash.value_or("");
  fact.number = graph->number.value_or("");
  fact.program = graph->name.value_or("");
  fact.input_count = graph->input_count;
  fact.output_count = graph->output_count;
  if (const auto known = known_by_hash.find(fact.hash);
      !fact.hash.empty() && known != known_by_hash.end()) {
    fact.forms = known->second.forms;
    fact.ir_nodes = known->second.ir_nodes;
    fact.input_count = known->second.input_count;
    fact.output_count = known->second.output_count;
  } else if (ListsNodes(*graph)) {
    fact.forms.emplace_back(*graph->printed_as, graph->id);
    if (graph->printed_as == PrintedForm::kIrText) fact.ir_nodes = graph->node_count;
  }
  return fact;
}

// Returns the number of nodes that are inputs, of each graph of an IR dump.
absl::StatusOr<absl::flat_hash_map<int64_t, int64_t>> InputNodesByGraph(const Run& run,
                                                                        const Graphs& graphs) {
  absl::flat_hash_map<int64_t, int64_t> nodes;
  const bool has_dump = std::ranges::any_of(
      graphs.by_id, [](const auto& of) { return of.second.printed_as == PrintedForm::kIrText; });
  if (!has_dump) return nodes;
  XP_TRY(run.store().Each(
      fmt::format("SELECT n.graph_id, count(*) FROM graph_node n JOIN graph g ON g.id = n.graph_id "
                  "WHERE g.printed_as = 'ir_text' AND n.op IN ({}) GROUP BY 1",
                  SqlNamesOf(OpKind::kInput)),
      [&](int64_t graph_id, int64_t count) { nodes[graph_id] = count; }));
  return nodes;
}

// Returns all compiles of the run, by process and in order, and the step row of each.
absl::StatusOr<std::vector<CompileFact>> FactsInOrder(
    const Run& run, absl::flat_hash_map<int64_t, OptInt>* step_of_compile) {
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  XP_TRY(const Compiles* all, run.whole().Get<Compiles>());
  XP_TRY(const Compiles* in_slice, run.Get<Compiles>());
  absl::flat_hash_set<int64_t> looked_at;
  for (const CompileRow& row : in_slice->rows) looked_at.insert(row.id);
  const auto known_by_hash = KnownByHash(*graphs);
  XP_TRY(const auto input_nodes, InputNodesByGraph(run, *graphs));
  XP_TRY(const CompilePhases* phases, run.whole().Get<CompilePhases>());
  std::vector<CompileFact> compiles;
  for (const CompileRow& row : all->rows) {
    (*step_of_compile)[row.id] = row.step_id;
    compiles.push_back(FactOf(row, graphs->Find(row.graph_id), known_by_hash));
    if (const auto* parts = phases->Find(row.id)) compiles.back().phases_ns = *parts;
    compiles.back().in_slice = looked_at.contains(row.id);
    for (const auto& [form, graph_id] : compiles.back().forms) {
      if (const auto nodes = input_nodes.find(graph_id); nodes != input_nodes.end())
        compiles.back().input_nodes = nodes->second;
    }
  }
  std::ranges::stable_sort(compiles, [](const CompileFact& a, const CompileFact& b) {
    return std::tie(a.process_id, a.ordinal, a.ts_ns, a.hash, a.id) <
           std::tie(b.process_id, b.ordinal, b.ts_ns, b.hash, b.id);
  });
  return compiles;
}

// Leaves one compile of each graph that was compiled once for each of the devices that run it, with
// the time that all of them took, because the graph did not change from one to the next.
std::vector<CompileFact> OncePerDevice(std::vector<CompileFact> compiles,
                                       const ProgramDevices& devices) {
  std::map<std::pair<int64_t, std::string>, int64_t> times;  // by process and hash
  for (const CompileFact& compile : compiles) ++times[{compile.process_id, compile.hash}];
  std::map<std::pair<int64_t, std::string>, size_t> first_of;  // places in `out`
  std::vector<CompileFact> out;
  const auto add = [](OptInt& sum, OptInt ns) {
    if (ns) sum = sum.value_or(0) + *ns;
  };
  for (CompileFact& compile : compiles) {
    const std::pair graph(compile.process_id, compile.hash);
    const int64_t count = devices.Of(compile.process_id, compile.hash);
    if (!compile.hash.empty() && count > 1 && times[graph] <= count) {
      const auto [first, is_new] = first_of.try_emplace(graph, out.size());
      if (!is_new) {
        add(out[first->second].dur_ns, compile.dur_ns);
        add(out[first->second].trace_ns, compile.trace_ns);
        continue;
      }
    }
    out.push_back(std::move(compile));
  }
  return out;
}

// Returns whether a number is clearly another than the mean of `others`, which are at least one.
bool IsUnlike(int64_t number, const std::vector<int64_t>& others) {
  double sum = 0;
  for (const int64_t other : others) sum += double(other);
  const double mean = sum / double(others.size());
  return double(number) * policy::kUnlikeOthers < mean ||
         mean * policy::kUnlikeOthers < double(number);
}

// Returns the compiles whose time is an equal share of a sum, although their graphs have far more or
// fewer nodes than those of the others that share it. Where these were not printed, the inputs count.
std::set<int64_t> UnlikeOthers(const std::vector<CompileFact>& compiles, const Graphs& graphs) {
  struct Size {
    const CompileFact* compile;
    std::map<PrintedForm, int64_t> nodes;  // by the form that lists them
  };
  std::map<int64_t, std::vector<Size>> by_process;
  for (const CompileFact& compile : compiles) {
    if (compile.dur_from != TimeSource::kMetricsShare || !compile.dur_ns) continue;
    Size size{.compile = &compile};
    for (const auto& [form, id] : compile.forms) {
      const GraphRow* graph = graphs.Find(id);
      if (form != PrintedForm::kSignature && graph != nullptr && graph->node_count)
        size.nodes[form] = *graph->node_count;
    }
    by_process[compile.process_id].push_back(std::move(size));
  }
  std::set<int64_t> unlike;
  for (const auto& [process_id, sizes] : by_process) {
    const auto others = [&](const Size& size, const auto& number_of) {
      std::vector<int64_t> numbers;
      for (const Size& other : sizes) {
        const OptInt number = number_of(other);
        if (&other != &size && number) numbers.push_back(*number);
      }
      return numbers;
    };
    for (const Size& size : sizes) {
      std::optional<bool> by_nodes;
      for (const auto& [form, nodes] : size.nodes) {
        const std::vector<int64_t> known = others(size, [&](const Size& other) {
          const auto at = other.nodes.find(form);
          return at == other.nodes.end() ? OptInt() : OptInt(at->second);
        });
        if (!known.empty()) by_nodes = by_nodes.value_or(false) || IsUnlike(nodes, known);
      }
      const std::vector<int64_t> inputs =
          others(size, [](const Size& other) { return other.compile->input_count; });
      const bool by_inputs = size.compile->input_count && !inputs.empty() &&
                             IsUnlike(*size.compile->input_count, inputs);
      if (by_nodes.value_or(by_inputs)) unlike.insert(size.compile->id);
    }
  }
  return unlike;
}

// Distinguishes the reads at one line of the user's.
class Reads {
 public:
  static absl::StatusOr<Reads> Of(const Run& run, const std::vector<CompileFact>& compiles) {
    Reads reads;
    std::map<std::tuple<int64_t, OptInt, std::string, int64_t>, std::string> first_in_step;
    for (const CompileFact& compile : compiles) {
      if (compile.cause != CutKind::kValueAccess) continue;
      Read read;
      XP_TRY(read.key, KeyOf(run, compile));
      if (compile.graph_id) {
        XP_TRY(const GraphResults* results, run.Get<GraphResults>(*compile.graph_id));
        read.ops = results->ops;
      }
      const auto [first, is_first] = first_in_step.try_emplace(
          {compile.process_id, compile.site_id, read.key, compile.step}, read.ops);
      if (!is_first && first->second != read.ops)
        reads.several_.insert({compile.process_id, compile.site_id, read.key});
      reads.by_compile_[compile.id] = std::move(read);
    }
    return reads;
  }
  // Returns a text that is equal for compiles of the same read; "" for compiles of no read.
  std::string KeyOf(const CompileFact& compile) const {
    const auto read = by_compile_.find(compile.id);
    if (read == by_compile_.end()) return "";
    const auto& [key, ops] = read->second;
    return several_.contains({compile.process_id, compile.site_id, key}) ? key + ops : key;
  }

 private:
  struct Read {
    std::string key, ops;  // `ops` make the value that is read
  };
  // Returns the element types and ranks of what is read, and the library's line that reads it.
  static absl::StatusOr<std::string> KeyOf(const Run& run, const CompileFact& compile) {
    std::string key;
    XP_TRY(const CallStacks* stacks, run.Get<CallStacks>());
    if (compile.graph_id) {
      XP_TRY(const GraphResults* results, run.Get<GraphResults>(*compile.graph_id));
      for (const XlaShape& shape : results->shapes)
        key += fmt::format("{} of rank {};", shape.element_type(), shape.rank());
    }
    return key + stacks->LibraryOf(compile.stack_id).text();
  }

  std::map<int64_t, Read> by_compile_;
  // Lines that read values of different ops in one step. There are several reads, and not one whose
  // ops change.
  std::set<std::tuple<int64_t, OptInt, std::string>> several_;
};

// Returns a text that is equal for compiles of one function under torch.compile, if a source knows
// only its number: programs 0/0 and 0/1 are of function 0. Without it, each compile is a function's.
std::string UnnamedFunction(const CompileFact& compile) {
  if (compile.cause != CutKind::kCompiledFunction || !compile.function.empty()) return "";
  if (compile.number.empty()) return fmt::format("compile {}", compile.id);
  return fmt::format("function {}", compile.number.substr(0, compile.number.rfind('/')));
}

// Returns the compiles by site, in the order of each site's first compile.
absl::StatusOr<std::vector<CompileSite>> SitesOf(
    const Run& run, std::vector<CompileFact> compiles,
    const absl::flat_hash_map<int64_t, SourcePlace>& places) {
  std::vector<CompileSite> sites;
  std::map<std::tuple<int64_t, CutKind, std::string, int64_t, std::string>, size_t> index;
  XP_TRY(const Reads reads, Reads::Of(run, compiles));
  XP_TRY(const GraphParts parts, GraphParts::Of(run, compiles));
  for (CompileFact& compile : compiles) {
    // Many graphs have the name of one operation.
    if (IsPart(compile)) compile.function = PartName(compile);
    const bool by_function = !compile.function.empty() && !IsCommonName(compile.function);
    // Many classes have a function `forward`.
    const bool is_unique_name = by_function && compile.cause != CutKind::kCompiledFunction;
    const int64_t number = IsJaxLoop(compile.function) ? compile.loop_number()
                           : is_unique_name            ? -1
                                                       : compile.site_id.value_or(-1);
    const std::tuple key(
        compile.process_id, compile.cause, compile.function, number,
        IsPart(compile) ? parts.KeyOf(compile) : reads.KeyOf(compile) + UnnamedFunction(compile));
    const auto [at, is_new] = index.try_emplace(key, sites.size());
    if (is_new) {
      CompileSite site{.process_id = compile.process_id,
                       .cause = compile.cause,
                       .function = compile.function,
                       .site_id = compile.site_id};
      if (compile.site_id && places.contains(*compile.site_id))
        site.place = places.at(*compile.site_id);
      if (compile.cause == CutKind::kValueAccess) {
        XP_TRY(const CallStacks* stacks, run.Get<CallStacks>());
        site.library = stacks->LibraryOf(compile.stack_id);
      }
      sites.push_back(std::move(site));
    }
    sites[at->second].compiles.push_back(std::move(compile));
  }
  return sites;
}

}  // namespace

absl::StatusOr<CompileSites> CompileSites::Of(const Run& run) {
  CompileSites facts;
  absl::flat_hash_map<int64_t, OptInt> step_of_compile;
  XP_TRY(std::vector<CompileFact> compiles, FactsInOrder(run, &step_of_compile));
  XP_TRY(const auto rows, RowsByProcess(run));
  XP_TRY(const ObservedProcesses* processes, run.Get<ObservedProcesses>());
  XP_TRY(const ObservedProgress* progress, run.Get<ObservedProgress>());
  XP_TRY(const RunTimes* times, run.Get<RunTimes>());
  std::map<int64_t, std::vector<CompileFact*>> by_process;
  for (CompileFact& compile : compiles) by_process[compile.process_id].push_back(&compile);
  for (const auto& [process_id, of_process] : by_process) {
    const auto at = rows.find(process_id);
    const ProcessRows none;
    const ProcessRows& of = at == rows.end() ? none : at->second;
    std::vector<ObservedProgressRow> observed;
    for (const ObservedProgressRow& row : progress->rows) {
      if (row.process_id == process_id) observed.push_back(row);
    }
    const auto process =
        std::ranges::find(processes->rows, OptInt(process_id), &ObservedProcessRow::process_id);
    PlaceInSteps(of, of_process, step_of_compile,
                 Progress::Of(process == processes->rows.end() ? nullptr : &*process,
                              std::move(observed), int64_t(of_process.size())),
                 &facts.steps[process_id]);
    facts.wall_ns[process_id] = times->Of(process_id);
    if (process != processes->rows.end() && process->dur_ns > 0)
      facts.observed.insert(process_id);
  }
  XP_TRY(const Sites* sites, run.Get<Sites>());
  for (const auto& [id, site] : sites->by_id)
    facts.places[id] = {site.file.value_or(""), site.line, site.function.value_or("")};
  for (const CompileFact& compile : compiles) {
    facts.compiling_ns[compile.process_id] +=
        compile.compiling_ns() - compile.load_ns().value_or(0);
    if (compile.caller_known) facts.explained.insert(compile.process_id);
  }
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  facts.unlike_others = UnlikeOthers(compiles, *graphs);
  XP_TRY(std::vector<CompileFact> operations, TakeOperations(run, compiles));
  for (CompileFact& operation : operations)
    facts.operations[operation.process_id].push_back(std::move(operation));
  XP_TRY(const ProgramDevices* devices, run.whole().Get<ProgramDevices>());
  XP_TRY(facts.sites, SitesOf(run, OncePerDevice(std::move(compiles), *devices), facts.places));
  XP_TRY(const auto* limits, run.Get<Table<DynamoRecompileRow>>());
  for (CompileSite& site : facts.sites) {
    site.reached_limit = std::ranges::any_of(limits->rows, [&](const DynamoRecompileRow& row) {
      return row.programs && row.process_id == site.process_id && row.function == site.function &&
             row.site_id == site.site_id;
    });
  }
  return facts;
}

}  // namespace xlaprof
