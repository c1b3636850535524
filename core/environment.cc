#include "core/environment.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "core/log.h"

namespace xlaprof::lazy {
namespace {

void Complain(const char* name, std::string_view value, const char* expected) {
  Log(LogLevel::kWarning, "{}={} is not {}: the default is used", name, value, expected);
}

void Read(const char* name, std::string* value) {
  if (const char* text = std::getenv(name)) *value = text;
}

template <class Int>
void ReadCount(const char* name, Int least, Int* value) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == 0) return;
  int64_t number = 0;
  if (absl::SimpleAtoi(text, &number) && number >= int64_t(least)) {
    *value = Int(number);
  } else {
    Complain(name, text, least == 0 ? "a number" : "a number of at least 1");
  }
}

void ReadPercentiles(const char* name, std::vector<double>* value) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == 0) return;
  std::vector<double> fractions;
  for (absl::string_view part : absl::StrSplit(text, ':')) {
    double fraction = 0;
    if (!absl::SimpleAtod(part, &fraction) || !(fraction > 0 && fraction < 1))
      return Complain(name, text, "a list of fractions between 0 and 1, such as 0.5:0.99");
    fractions.push_back(fraction);
  }
  std::sort(fractions.begin(), fractions.end());
  *value = fractions;
}

// Reads a number as torch_xla does: the leading digits, or 0 if there are none.
void ReadNumber(const char* name, int64_t* value) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == 0) return;
  char* end = nullptr;
  *value = std::strtoll(text, &end, 10);
  if (end == text) Log(LogLevel::kWarning, "{}={} is not a number: 0 is used", name, text);
}

// Reads "true", "false", or a number, of which only 0 is false.
void ReadFlag(const char* name, bool* value) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == 0) return;
  const std::string_view word = text;
  if (word == "true" || word == "false") {
    *value = word == "true";
    return;
  }
  int64_t number = 0;
  ReadNumber(name, &number);
  *value = number != 0;
}

void ReadChoice(const char* name, std::initializer_list<std::string_view> choices,
                std::string* value) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == 0) return;
  if (std::find(choices.begin(), choices.end(), text) == choices.end())
    return Complain(name, text, fmt::format("one of {}", fmt::join(choices, ", ")).c_str());
  *value = text;
}

void ReadFnTracker(Environment* e) {
  constexpr int64_t kFallbackLevel = 3;
  int64_t level = kFallbackLevel;
  ReadNumber("XLA_FNTRACKER_LEVEL", &level);
  if (level >= kFallbackLevel) Read("XLA_FNTRACKER_FILE", &e->fn_tracker_file);
  std::string names;
  Read("XLA_FNTRACKER_LIST", &names);
  e->fn_tracker_list = absl::StrSplit(names, ':', absl::SkipEmpty());
}

void ReadDiagnostics(Environment* e) {
  ReadFlag("PT_XLA_DEBUG", &e->debug);
  ReadNumber("PT_XLA_DEBUG_LEVEL", &e->debug_level);
  if (e->debug_level == -1 && e->debug) e->debug_level = 100;
  Read("PT_XLA_DEBUG_FILE", &e->debug_file);
  ReadNumber("PT_XLA_DEBUG_MAX_FRAME", &e->debug_frames);
  ReadNumber("PJRT_LOCAL_PROCESS_RANK", &e->local_rank);
  ReadFlag("XLA_IR_DEBUG", &e->ir_debug);
  ReadFlag("XLA_HLO_DEBUG", &e->hlo_debug);
  Read("XLA_SAVE_TENSORS_FILE", &e->save_tensors_file);
  ReadChoice("XLA_SAVE_TENSORS_FMT", {"text", "hlo", "dot", "stablehlo"}, &e->save_tensors_fmt);
  Read("XLA_SAVE_HLO_FILE", &e->save_hlo_file);
  ReadFlag("XLA_DUMP_HLO_GRAPH", &e->dump_hlo_graph);
  ReadFnTracker(e);
  e->diagnostics = e->debug || e->debug_level > 0 || !e->save_tensors_file.empty() ||
                   !e->save_hlo_file.empty() || e->dump_hlo_graph || !e->fn_tracker_file.empty() ||
                   LogsAnyModule();
}

Environment ReadAll() {
  Environment e;
  Read("XLAPROF_DEVICE", &e.device);
  Read("XLAPROF_PJRT_PLUGIN", &e.pjrt_plugin);
  ReadCount<int64_t>("XLAPROF_THREADS", 0, &e.threads);
  ReadCount("XLAPROF_DEVICES", int64_t{1}, &e.devices);
  ReadCount("XLAPROF_COLLECTIVE_TIMEOUT_S", int64_t{1}, &e.collective_timeout_s);
  ReadCount<size_t>("XLA_METRICS_SAMPLES", 1, &e.metrics_samples);
  ReadPercentiles("XLA_METRICS_PERCENTILES", &e.metrics_percentiles);
  Read("XLA_METRICS_FILE", &e.metrics_file);
  ReadCount<size_t>("XLA_COMPILATION_CACHE_SIZE", 1, &e.compilation_cache_size);
  Read("XLA_PERSISTENT_CACHE_PATH", &e.persistent_cache_path);
  ReadFlag("XLA_PERSISTENT_CACHE_READ_ONLY", &e.persistent_cache_read_only);
  ReadFlag("GET_TENSORS_OPBYOP", &e.get_op_by_op);
  ReadFlag("XLA_GET_TENSORS_OPBYOP", &e.get_op_by_op);
  ReadFlag("SYNC_TENSORS_OPBYOP", &e.sync_op_by_op);
  ReadFlag("XLA_SYNC_TENSORS_OPBYOP", &e.sync_op_by_op);
  ReadFlag("XLA_NO_SPECIAL_SCALARS", &e.no_special_scalars);
  ReadFlag("XLA_SYNC_WAIT", &e.sync_wait);
  ReadFlag("XLA_USE_BF16", &e.use_bf16);
  ReadFlag("XLA_USE_F16", &e.use_f16);
  ReadFlag("XLA_USE_32BIT_LONG", &e.use_32bit_long);
  for (const char* name : {"XLA_FLAGS", "LIBTPU_INIT_ARGS", "XLA_HLO_DEBUG", "XLA_IR_DEBUG"}) {
    const char* text = std::getenv(name);
    if (text != nullptr && *text != 0) e.compile_environment += fmt::format("{}={};", name, text);
  }
  ReadDiagnostics(&e);
  return e;
}

}  // namespace

const Environment& environment() {
  static const Environment& values = *new Environment(ReadAll());
  return values;
}

}  // namespace xlaprof::lazy
