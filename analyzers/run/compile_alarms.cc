#include "analyzers/run/compile_alarms.h"

#include <algorithm>

#include "base/whole.h"

namespace xlaprof {

absl::StatusOr<std::vector<CompileAlarms>> LoadCompileAlarms(const Run& run,
                                                             bool compiles_are_timed) {
  const Store& store = run.store();
  std::map<std::pair<AlarmKind, std::string>, CompileAlarms> groups;  // by kind and module
  XP_TRY(store.Each(
      "SELECT a.id, coalesce(a.process_id, 0), operation, coalesce(dur_ns, least_ns, 0), dur_ns IS "
      "NOT NULL, subject, op, "
      "shape, scope, text, s.file, s.line FROM compile_alarm a LEFT JOIN site s ON s.id = "
      "a.site_id WHERE NOT (?1 AND operation = 'compile' AND (dur_ns IS NOT NULL OR EXISTS (SELECT "
      "1 FROM compile c WHERE c.dur_ns >= a.least_ns AND instr(a.subject, c.function) > 0))) "
      "ORDER BY coalesce(dur_ns, least_ns, 0) DESC, a.id",
      [&](int64_t row, int64_t process_id, AlarmKind kind, int64_t ns, bool ended, OptText name,
          OptText op, OptText shape, OptText scope, std::string text, OptText file, OptInt line) {
        const bool is_compile = kind == AlarmKind::kCompile;
        CompileAlarms& alarms = groups[{kind, is_compile ? name.value_or("") : ""}];
        alarms.kind = kind;
        int64_t& of_process = alarms.ns_by_process[process_id];
        of_process = Whole(double(of_process) + double(ns));
        alarms.ns = std::max(alarms.ns, of_process);
        alarms.ended = alarms.ended && ended;
        alarms.all.push_back({.row = row,
                              .ns = ns,
                              .ended = ended,
                              .subject = {.file = file, .line = line, .scope = scope, .op = op},
                              .name = std::move(name),
                              .shape = std::move(shape),
                              .text = std::move(text)});
      },
      compiles_are_timed));
  std::vector<CompileAlarms> all;
  for (auto& [key, alarms] : groups) all.push_back(std::move(alarms));
  return all;
}

}  // namespace xlaprof
