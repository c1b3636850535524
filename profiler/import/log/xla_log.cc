// Finds XLA's alarms in the output of any program that uses XLA. xla_alarms.cc describes their
// format. Logs of JAX and torch_xla may hold them as well.
#include <map>

#include "profiler/import/xla/xla_alarms.h"

namespace xlaprof {
namespace {

// The scores are low, because other importers read alarms as well and know more; their markers may
// come late.
int SniffXlaLog(std::string_view window) {
  auto has = [&](std::string_view text) { return window.find(text) != std::string_view::npos; };
  if (has("slow_operation_alarm.cc:") || has("Constant folding an instruction is taking > "))
    return 30;
  const bool is_slow =
      has("Very slow compile?") && (has("--xla_dump_to") || has("[Compiling module "));
  return is_slow || has("XLA was built without compiler optimizations") ? 25 : 0;
}

absl::Status ReadXlaLog(const Input& input, ImportContext& context) {
  std::map<LogOrigin, int64_t> processes;
  auto process_of = [&](const LogOrigin& origin) -> absl::StatusOr<int64_t> {
    auto [process, added] = processes.try_emplace(origin);
    if (added && origin == LogOrigin()) {
      XP_TRY(process->second, context.ProcessId());
    } else if (added) {
      XP_TRY(process->second, context.NewProcess(origin.host, origin.pid, origin.rank));
    }
    return process->second;
  };
  XP_TRY(int64_t count, ReadXlaAlarms(input, context, process_of));
  if (count > 0) return absl::OkStatus();
  // The message must not deny words that the user can see.
  for (const char* words : {"The operation took ", "Constant folding an instruction",
                            "slow compile?", "slow_operation_alarm.cc:"}) {
    if (input.bytes.find(words) == std::string_view::npos) continue;
    return Invalid(
        "{}: the log contains no complete alarm of XLA. It contains '{}', but not the instruction, the module or the place in XLA's code, because the alarm was cut or broken into lines. Use the log that the program itself writes, with all of its lines, or name the format with --as",
        input.path, words);
  }
  return Invalid(
      "{}: the log contains no alarm of XLA. xlaprof looked for 'Very slow compile?', 'Constant folding an instruction is taking' and 'The operation took'. To see compilations, run JAX with JAX_LOG_COMPILES=1 or torch_xla with PT_XLA_DEBUG_LEVEL=2, or name the format with --as",
      input.path);
}

}  // namespace

extern const Importer xla_log{
    "xla_log", "XLA's own warnings about slow compilations, in the output of any program",
    "train.log", SniffXlaLog, ReadXlaLog};

}  // namespace xlaprof
