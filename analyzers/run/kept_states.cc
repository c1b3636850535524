#include "analyzers/run/kept_states.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzers/graph/graph_content.h"
#include "analyzers/policy.h"
#include "analyzers/run/donatable_copies.h"
#include "analyzers/run/tables.h"
#include "analyzers/run/user_call.h"
#include "base/array_bytes.h"

namespace xlaprof {
namespace {

// An optimised program that ran.
struct RanProgram {
  int64_t graph_id = 0;
  std::string identity, module;
  int64_t executions = 0;
  double open_bytes = 0;                                 // of parameters that are not donated
  std::set<std::pair<std::string, std::string>> inputs;  // names and shapes, if names are known
};

// Returns the optimised programs with their parameters, one for each identity.
absl::StatusOr<std::vector<RanProgram>> RanPrograms(const Run& run) {
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  XP_TRY(const Executions* executions, run.Get<Executions>());
  std::map<std::string, int64_t> count;
  for (const ExecutionRow& row : executions->rows)
    ++count[graphs->IdentityOf(row.graph_id).value_or("")];
  std::vector<RanProgram> programs;
  std::map<int64_t, size_t> program_of;  // by the graph's id
  std::set<std::string> seen;
  for (const auto& [id, graph] : graphs->by_id) {
    if (graph.printed_as != PrintedForm::kHloOptimized) continue;
    const std::string identity = graphs->IdentityOf(id).value_or("");
    if (!count.contains(identity) || !seen.insert(identity).second) continue;
    program_of.emplace(id, programs.size());
    programs.push_back({.graph_id = id,
                        .identity = identity,
                        .module = graph.name.value_or(""),
                        .executions = count[identity]});
  }
  if (programs.empty()) return programs;
  XP_TRY(run.store().Each(
      fmt::format("SELECT n.graph_id, n.shape, coalesce(n.attributes, '') FROM graph_node n JOIN "
                  "graph g ON g.id = n.graph_id WHERE g.printed_as = 'hlo_optimized' AND n.op IN "
                  "({}) AND n.computation IS NULL",
                  SqlNamesOf(OpKind::kInput)),
      [&](int64_t id, std::string shape, std::string attributes) {
        const auto found = program_of.find(id);
        if (found == program_of.end()) return;
        RanProgram& program = programs[found->second];
        if (AttributeOf("donated", attributes).empty())
          program.open_bytes += double(ArrayBytes(shape));
        std::string name = ArgumentOf({.attributes = attributes});
        if (!name.empty()) program.inputs.emplace(std::move(name), WithoutLayout(shape));
      }));
  return programs;
}

// Returns whether another program that runs about as often reads an input of this name and shape.
bool IsReadElsewhere(const KeptInput& input, const RanProgram& by,
                     const std::vector<RanProgram>& programs) {
  if (input.argument.empty()) return false;
  return std::ranges::any_of(programs, [&](const RanProgram& other) {
    return other.module != by.module && other.executions * 2 >= by.executions &&
           other.inputs.contains({input.argument, input.shape});
  });
}

}  // namespace

absl::StatusOr<KeptStates> KeptStates::Of(const Run& run) {
  KeptStates out;
  XP_TRY(const std::vector<RanProgram> programs, RanPrograms(run));
  std::map<int64_t, std::set<int64_t>> copied;  // parameters, by graph
  XP_TRY(const DonatableCopies* copies, run.Get<DonatableCopies>());
  for (const DonatableProgram& program : copies->programs) {
    for (const DonatableCopy& copy : program.copies)
      copied[program.graph_id].insert(copy.parameter);
  }
  for (const RanProgram& program : programs) {
    if (program.executions < policy::kRepeatedExecutions || program.open_bytes < policy::kKeptBytes)
      continue;
    XP_TRY(const PrintedGraph graph, LoadGraph(run.store(), program.graph_id));
    KeptState state{.graph_id = program.graph_id,
                    .module = program.module,
                    .kept = KeptInputsOf(graph),
                    .executions = program.executions};
    std::erase_if(state.kept.inputs, [&](const KeptInput& input) {
      return copied[program.graph_id].contains(input.parameter) ||
             IsReadElsewhere(input, program, programs);
    });
    if (state.kept.inputs.empty()) continue;
    XP_TRY(state.subject, CallOf(run, program.graph_id));
    out.programs.push_back(std::move(state));
  }
  return out;
}

}  // namespace xlaprof
