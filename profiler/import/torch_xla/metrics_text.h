// Reads metrics reports of torch_xla as text, entry by entry.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/import/text/lines.h"
#include "profiler/import/torch_xla/report_lines.h"
#include "profiler/store/rows.h"

namespace xlaprof {

// One entry of a report, as printed. Its members view the text.
struct MetricEntry {
  std::string_view name;
  bool is_counter = false;
  OptInt value;                       // Counter: its value
  OptInt samples;                     // Metric: TotalSamples
  std::string_view accumulator;       // Metric: number with unit
  std::string_view value_rate, rate;  // without " / second"; empty: not printed
  std::string_view percentiles;       // "1%=000.120us; 5%=…"
  bool has_percentiles = false;       // the line of percentiles is there
  bool is_counted = false;            // the line with value or samples is there, readable or not
  bool is_broken = false;             // a line break went through its name or a number
  int64_t offset = 0, line = 0;
  // Returns false if the text stops or breaks off inside the entry. A metric may have lost
  // everything after its number of values.
  bool whole() const { return !is_broken && (is_counter ? value : samples).has_value(); }
};

struct MetricsText {
  OptInt save_number;  // N of the [MetricsData; step=N] above it
  LogOrigin origin;    // its writer, if prefixes show it
  std::vector<MetricEntry> entries;
  int64_t offset = 0, line = 0;
  bool torn = false;  // it breaks off: the text stops inside it, or its run was killed
  OptInt Counter(std::string_view name) const;
};

// Reads reports one after the other. Their views point into the text or into the reader.
class MetricsReader {
 public:
  explicit MetricsReader(std::string_view text) : text_(text), lines_(text) {}
  // Reads the next report. Returns false at the end. A report begins at its header, or where a
  // metric comes a second time. Lines of several processes may alternate; each process has a report
  // of its own. Entries that are not whole are left out and counted.
  bool Next(MetricsText* report);
  // The place where the text begins inside an entry, if it does.
  std::optional<TextPosition> cut_head() const { return cut_head_; }
  int64_t broken_entries() const { return broken_entries_; }
  int64_t first_broken_offset() const { return broken_offset_; }
  int64_t first_broken_line() const { return broken_line_; }
  int64_t lines() const { return lines_.number(); }
  int64_t offset() const { return lines_.offset(); }

 private:
  enum Label : int;
  struct Field;
  // The part of an origin's report that was read.
  struct Open {
    MetricsText report;
    absl::flat_hash_set<std::string_view> metrics;  // their names
    bool begun = false, server_seen = false;
    std::string_view cut_name;  // name in the line before, if that may be the first entry of all
  };

  static Field FieldOf(std::string_view line);
  // Returns the report that a line belongs to, or null if it is another process's, whose report did
  // not begin in the text.
  Open* OpenOf(const Field& field);
  bool OriginsAreLineNumbers() const;
  void Begin(Open& open);
  // Takes a field. Returns false if another report begins at this line.
  bool TakeField(Open& open, Field field);
  void TakeEntry(MetricEntry& entry, const Field& field, bool readable);
  void TakeHeadless(const Field& field);
  void TakeUnlabelled(std::string_view line);
  void Continue(MetricEntry& entry, std::string_view text);
  void Finish(MetricsText& report, bool at_end);
  MetricsText Close(Open& open, bool at_end);

  std::string_view text_;
  ReportLines lines_;
  std::map<LogOrigin, Open> open_;
  LogOrigin origin_;           // origin of the last line that showed one
  std::string last_prefix_;    // prefix of that line
  std::optional<bool> tells_;  // true: prefixes show origins; empty: none did yet
  // The field in the line above, if it belongs to an entry.
  Open* above_ = nullptr;
  int label_above_ = 0;
  std::string_view prefix_above_;
  size_t length_above_ = 0;
  std::optional<TextPosition> value_above_;  // place of a value that belongs to no entry
  std::optional<TextPosition> cut_head_;
  std::deque<std::string> joined_;  // texts that a line break went through, joined
  int64_t broken_entries_ = 0, broken_offset_ = 0, broken_line_ = 0;
};

}  // namespace xlaprof
