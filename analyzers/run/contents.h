// The contents of the run: the numbers of rows of each kind, and the kinds of its sources.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzers/run/run.h"

namespace xlaprof {

struct Contents {
  std::set<SourceKind> source_kinds;  // of the imported sources, if known
  std::set<std::string> issue_codes;  // codes of the import issues
  // The first notice of a kind: where it was printed, how often, and what the issue says.
  struct Notice {
    std::string path;
    int64_t line = 1, count = 0;
    std::string text;
  };
  std::optional<Notice> runs_on_cpu;  // the program runs on the CPU
  std::optional<Notice> no_device;    // the error that there is no device
  OptText data_loader;         // the DataLoader's iterator, as named by PyTorch's profiler
  bool has_torch_ops = false;  // PyTorch's own profiler recorded operations
  bool has_old_torch = false;  // it is older than 1.11, so there is no torch.compile
  bool runs_compiled_functions = false;  // of torch.compile

  // Numbers of rows in the whole run.
  int64_t events = 0;
  int64_t metrics_reports = 0, metrics = 0, counters = 0, profiler_lines = 0;
  int64_t sites = 0, compile_reasons = 0, compile_alarms = 0;
  int64_t execution_metrics = 0;   // metrics that time executions
  int64_t execution_counters = 0;  // counters that count them
  int64_t recordings = 0;         // of our own recorder
  int64_t graphs_with_nodes = 0;  // graphs that are more than a list of inputs

  std::vector<SettingRow> settings;  // one per name, in the order of names
  // By process: the first setting with several values.
  std::map<int64_t, std::string> changed_setting;

  static absl::StatusOr<Contents> Of(const Run& run);
};

}  // namespace xlaprof
