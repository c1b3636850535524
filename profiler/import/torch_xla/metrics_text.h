// Metrics reports of torch_xla as text, entry by entry.
#pragma once

#include <string_view>
#include <vector>

#include "profiler/import/torch_xla/report_lines.h"
#include "profiler/store/rows.h"

namespace xlaprof {

// One entry of a report, as printed. Views into the text.
struct MetricEntry {
  std::string_view name;
  bool is_counter = false;
  OptInt value;                       // Counter: its value
  OptInt samples;                     // Metric: TotalSamples
  std::string_view accumulator;       // Metric: number with unit
  std::string_view value_rate, rate;  // without " / second"; empty: not printed
  std::string_view percentiles;       // "1%=000.120us; 5%=…"
  bool has_percentiles = false;       // the line is there
  int64_t offset = 0, line = 0;
  // False where the text stops or breaks off inside the entry. A metric may have lost all behind
  // its number of samples.
  bool whole() const { return is_counter ? value.has_value() : samples.has_value(); }
};

struct MetricsText {
  OptInt save_number;  // of the [MetricsData; step=N] above it
  std::vector<MetricEntry> entries;
  int64_t offset = 0, line = 0;
  bool torn = false;  // it breaks off: the text stops inside it, or its run was killed
  OptInt Counter(std::string_view name) const;
};

// Reads reports one after the other. What they view lies in the text or in the reader.
class MetricsReader {
 public:
  explicit MetricsReader(std::string_view text) : lines_(text) {}
  // False at the end. A report begins at its header, or where a metric comes a second time. Entries
  // that are not whole are left out and counted.
  bool Next(MetricsText* report);
  int64_t broken_entries() const { return broken_entries_; }
  int64_t first_broken_offset() const { return broken_offset_; }
  int64_t first_broken_line() const { return broken_line_; }
  int64_t lines() const { return lines_.number(); }
  int64_t offset() const { return lines_.offset(); }

 private:
  void Finish(MetricsText& report, bool at_end);
  ReportLines lines_;
  int64_t broken_entries_ = 0, broken_offset_ = 0, broken_line_ = 0;
};

}  // namespace xlaprof
