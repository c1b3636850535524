#include "profiler/import/log/dynamo_programs.h"

#include <algorithm>
#include <set>

#include "profiler/import/torch/dynamo_graph.h"
#include "profiler/import/torch/guard_history.h"

namespace xlaprof {
namespace {

using Program = GuardHistory::Program;

// A process, or one of several that have one origin, of which the numbers of programs begin again.
struct Process {
  GuardHistory history;
  std::map<int64_t, int64_t> last;     // program of each function
  std::set<int64_t> late;              // functions of which earlier messages are missing
  std::set<Program> without_programs;  // recompilations that made no program
  std::set<Program> known;             // programs that are found already
};

// Returns whether the first message about a function shows that others came before it: the function had
// more than its first program.
bool BeginsLate(const DynamoRecompile& message) {
  return message.failures.size() > 1 ||
         (message.prefix.id->program > 1 &&
          (message.failures.empty() || message.failures.front().program != 0));
}

// Returns the shape that guards show for the tensor of `change`, as text. Returns nothing if it is not
// printed, or does not have that size.
std::optional<std::string> ShapeOf(const GuardValues* guards, const GuardFailure& change,
                                   std::string_view size) {
  if (guards == nullptr || !change.dimension) return {};
  const auto shape = guards->shapes.find(change.input);
  if (shape == guards->shapes.end() || shape->second.is_tuple()) return {};
  std::optional<std::string> text = WithSize(shape->second, *change.dimension, size);
  if (!text) return {};
  const int64_t printed = shape->second.dimensions()[size_t(*change.dimension)];
  const bool fits = printed == XlaShape::kUnknownSize || *text == shape->second.text();
  return fits ? text : std::nullopt;
}

}  // namespace

DynamoPrograms ProgramsOf(const std::vector<DynamoRecompile>& messages,
                          const std::vector<size_t>& failed,
                          const std::map<std::pair<LogOrigin, Program>, GuardValues>& values) {
  DynamoPrograms out;
  std::map<LogOrigin, std::vector<Process>> processes;
  // The processes are found first, because a limit is printed after its recompilation.
  std::vector<size_t> process_of(messages.size(), 0);
  for (size_t i = 0; i < messages.size(); ++i) {
    const DynamoRecompile& message = messages[i];
    std::vector<Process>& alike = processes[message.prefix.origin];
    if (alike.empty()) alike.emplace_back();
    if (message.prefix.id && !message.is_limit) {
      const auto [frame, program] = message.prefix.id->both();
      if (const auto last = alike.back().last.find(frame);
          last != alike.back().last.end() && program <= last->second)
        alike.emplace_back();
      Process& process = alike.back();
      if (process.last.emplace(frame, program).second && BeginsLate(message))
        process.late.insert(frame);
      process.last[frame] = program;
    }
    Process& process = alike.back();
    process_of[i] = alike.size() - 1;
    if (message.is_limit) {
      if (message.prefix.id) process.without_programs.insert(message.prefix.id->both());
      continue;
    }
    if (message.prefix.id) process.history.Note(message.prefix.id->frame, message.failures);
  }
  for (size_t i : failed) {
    const DynamoRecompile& message = messages[i];
    if (message.prefix.id)
      processes[message.prefix.origin][process_of[i]].without_programs.insert(
          message.prefix.id->both());
  }
  for (size_t i = 0; i < messages.size(); ++i) {
    const DynamoRecompile& message = messages[i];
    Process& process = processes[message.prefix.origin][process_of[i]];
    if (message.is_limit) {
      out.others.emplace_back(i, message.failures.empty() ? nullptr : &message.failures.front());
      continue;
    }
    const std::optional<DynamoId>& id = message.prefix.id;
    if (!id || message.failures.empty()) {
      out.others.emplace_back(i, message.failures.empty() ? nullptr : &message.failures.front());
      continue;
    }
    const GuardFailure* reason = process.history.Choose(id->both(), message.failures);
    if (process.late.contains(id->frame)) {
      out.others.emplace_back(i, reason);
      continue;
    }
    if (process.without_programs.contains(id->both())) continue;
    const auto add = [&](DynamoProgram program) {
      if (!process.known.insert(program.id.both()).second) return;
      program.message = i, program.nth = int(process_of[i]);
      out.programs.push_back(std::move(program));
    };
    // The first program of a function has no message.
    std::vector<int64_t> named;
    for (const GuardFailure& failure : message.failures)
      if (failure.program) named.push_back(*failure.program);
    std::ranges::sort(named);
    for (int64_t program : named)
      add({.id = {.frame = id->frame, .program = program}, .is_named_only = true});
    DynamoProgram program{.id = *id, .reason = *reason};
    const auto guards_of = [&](int64_t number) {
      const auto guards = values.find({message.prefix.origin, Program(id->frame, number)});
      return guards == values.end() ? nullptr : &guards->second;
    };
    if (program.reason.after.empty()) {
      program.reason.after = process.history.ValueOf(id->both(), *reason);
      const GuardValues* own = guards_of(id->program);
      if (own != nullptr && reason->type == ReasonType::kConstantChange) {
        const auto value = own->numbers.find(reason->input);
        if (value != own->numbers.end()) program.reason.after = value->second;
      }
    }
    if (reason->type == ReasonType::kShapeChange && reason->program) {
      const auto before = ShapeOf(guards_of(*reason->program), *reason, reason->before),
                 after = ShapeOf(guards_of(id->program), *reason, reason->after);
      if (before && after) program.reason.before = *before, program.reason.after = *after;
    }
    add(std::move(program));
  }
  return out;
}

}  // namespace xlaprof
