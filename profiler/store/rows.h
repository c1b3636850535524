// One struct a table of schema.sql, for writing: `store.Add(Compile{.graph_id = g, .ordinal = 3})`.
// Column meanings, units and nullability are in schema.sql; an empty optional is NULL.
// `id` 0 asks Add to give the next one; Add returns the row's id.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace xlaprof {

using OptInt = std::optional<int64_t>;
using OptReal = std::optional<double>;
using OptText = std::optional<std::string>;

struct RunRow {
  int64_t id = 0;
  std::string label;
  OptInt started_epoch_ns;
  bool selected = false;
  std::string why;
  static constexpr const char* kTable = "run";
  void Fields(auto&& f) const {
    f("label", label), f("started_epoch_ns", started_epoch_ns), f("selected", selected),
        f("why", why);
  }
};

struct SourceRow {
  int64_t id = 0;
  std::string path;
  OptText format;
  OptInt bytes;
  OptInt clock_offset_ns, clock_error_ns;
  OptText derived_from;
  bool imported = false;
  OptText note;
  static constexpr const char* kTable = "source";
  void Fields(auto&& f) const {
    f("path", path), f("format", format), f("bytes", bytes);
    f("clock_offset_ns", clock_offset_ns), f("clock_error_ns", clock_error_ns);
    f("derived_from", derived_from), f("imported", imported), f("note", note);
  }
};

struct ProcessRow {
  int64_t id = 0;
  OptInt run_id, source_id;
  int64_t segment = 0;
  OptText host;
  OptInt pid, rank;
  OptText name;
  static constexpr const char* kTable = "process";
  void Fields(auto&& f) const {
    f("run_id", run_id), f("source_id", source_id), f("segment", segment);
    f("host", host), f("pid", pid), f("rank", rank), f("name", name);
  }
};

struct TrackRow {
  int64_t id = 0;
  OptInt process_id;
  std::string kind, name;
  OptInt tid;
  OptText device;
  OptInt parent_id;
  int64_t sort = 0;
  static constexpr const char* kTable = "track";
  void Fields(auto&& f) const {
    f("process_id", process_id), f("kind", kind), f("name", name), f("tid", tid);
    f("device", device), f("parent_id", parent_id), f("sort", sort);
  }
};

struct RecordingRow {
  int64_t id = 0;
  int64_t process_id = 0;
  std::string ring, ring_key;
  bool ended = false;
  std::string clock;
  OptInt drain_cpu_ns;
  static constexpr const char* kTable = "recording";
  void Fields(auto&& f) const {
    f("process_id", process_id), f("ring", ring), f("ring_key", ring_key), f("ended", ended);
    f("clock", clock), f("drain_cpu_ns", drain_cpu_ns);
  }
};

struct StepRow {
  int64_t id = 0;
  OptInt process_id;
  int64_t ordinal = 0;
  OptInt number;
  OptText name;
  OptInt ts_ns, dur_ns;
  static constexpr const char* kTable = "step";
  void Fields(auto&& f) const {
    f("process_id", process_id), f("ordinal", ordinal), f("number", number), f("name", name);
    f("ts_ns", ts_ns), f("dur_ns", dur_ns);
  }
};

struct GraphRow {
  int64_t id = 0;
  OptInt process_id;
  OptText hash, name;
  OptInt program_id, node_count, input_count, output_count;
  OptText printed_as;
  static constexpr const char* kTable = "graph";
  void Fields(auto&& f) const {
    f("process_id", process_id), f("hash", hash), f("name", name), f("program_id", program_id);
    f("node_count", node_count), f("input_count", input_count), f("output_count", output_count);
    f("printed_as", printed_as);
  }
};

struct GraphNodeRow {
  int64_t graph_id = 0, idx = 0;
  std::string op, shape, operands;
  OptText attributes, scope, location;
  OptInt root;
  OptText name, computation;
  static constexpr const char* kTable = "graph_node";
  void Fields(auto&& f) const {
    f("graph_id", graph_id), f("idx", idx), f("op", op), f("shape", shape), f("operands", operands);
    f("attributes", attributes), f("scope", scope), f("location", location), f("root", root);
    f("name", name), f("computation", computation);
  }
};

struct CompileRow {
  int64_t id = 0;
  OptInt process_id;
  int64_t ordinal = 0;
  OptInt graph_id, ts_ns, dur_ns, trace_ns;
  OptText dur_from, cause, function;
  OptInt site_id, stack_id, step_id, track_id;
  OptInt input_bytes, output_bytes, alias_bytes, temp_bytes, program_bytes, persistent_hit;
  bool inferred = false;
  static constexpr const char* kTable = "compile";
  void Fields(auto&& f) const {
    f("process_id", process_id), f("ordinal", ordinal), f("graph_id", graph_id), f("ts_ns", ts_ns);
    f("dur_ns", dur_ns), f("trace_ns", trace_ns), f("dur_from", dur_from), f("cause", cause);
    f("function", function), f("site_id", site_id), f("stack_id", stack_id);
    f("step_id", step_id), f("track_id", track_id);
    f("input_bytes", input_bytes), f("output_bytes", output_bytes), f("alias_bytes", alias_bytes);
    f("temp_bytes", temp_bytes), f("program_bytes", program_bytes);
    f("persistent_hit", persistent_hit), f("inferred", inferred);
  }
};

struct CompileReasonRow {
  int64_t compile_id = 0, idx = 0;
  std::string type;
  OptText input, before, after;
  std::string text;
  static constexpr const char* kTable = "compile_reason";
  void Fields(auto&& f) const {
    f("compile_id", compile_id), f("idx", idx), f("type", type), f("input", input);
    f("before", before), f("after", after), f("text", text);
  }
};

struct ExecutionRow {
  int64_t id = 0;
  OptInt process_id;
  int64_t ordinal = 0;
  OptInt graph_id, enqueue_ts_ns, ts_ns, dur_ns, host_wait_ns;
  OptText device, cause;
  OptInt site_id, stack_id, step_id;
  OptText scope;
  OptInt track_id;
  static constexpr const char* kTable = "execution";
  void Fields(auto&& f) const {
    f("process_id", process_id), f("ordinal", ordinal), f("graph_id", graph_id);
    f("enqueue_ts_ns", enqueue_ts_ns), f("ts_ns", ts_ns), f("dur_ns", dur_ns);
    f("host_wait_ns", host_wait_ns), f("device", device), f("cause", cause), f("site_id", site_id);
    f("stack_id", stack_id), f("step_id", step_id), f("scope", scope), f("track_id", track_id);
  }
};

struct TransferRow {
  int64_t id = 0;
  OptInt process_id;
  int64_t ordinal = 0;
  std::string direction;
  OptInt bytes, ts_ns, dur_ns;
  OptText device;
  OptInt site_id, step_id;
  OptText scope;
  OptInt track_id;
  static constexpr const char* kTable = "transfer";
  void Fields(auto&& f) const {
    f("process_id", process_id), f("ordinal", ordinal), f("direction", direction),
        f("bytes", bytes);
    f("ts_ns", ts_ns), f("dur_ns", dur_ns), f("device", device), f("site_id", site_id);
    f("step_id", step_id), f("scope", scope), f("track_id", track_id);
  }
};

struct FallbackRow {
  int64_t id = 0;
  OptInt process_id, ordinal;
  OptText op;
  int64_t count = 0;
  OptInt site_id, stack_id, step_id;
  static constexpr const char* kTable = "fallback";
  void Fields(auto&& f) const {
    f("process_id", process_id), f("ordinal", ordinal), f("op", op), f("count", count);
    f("site_id", site_id), f("stack_id", stack_id), f("step_id", step_id);
  }
};

struct UntiedWeightRow {
  int64_t id = 0;
  OptInt process_id;
  int64_t ordinal = 0;
  std::string names;
  int64_t copies = 0, bytes = 0;
  OptText device;
  OptInt site_id;
  static constexpr const char* kTable = "untied_weight";
  void Fields(auto&& f) const {
    f("process_id", process_id), f("ordinal", ordinal), f("names", names), f("copies", copies);
    f("bytes", bytes), f("device", device), f("site_id", site_id);
  }
};

struct ProfilerLineRow {
  int64_t id = 0;
  OptInt process_id;
  int64_t ordinal = 0;
  std::string rule;
  OptInt samples, steps;
  std::string text;
  static constexpr const char* kTable = "profiler_line";
  void Fields(auto&& f) const {
    f("process_id", process_id), f("ordinal", ordinal), f("rule", rule), f("samples", samples);
    f("steps", steps), f("text", text);
  }
};

struct CompileAlarmRow {
  int64_t id = 0;
  OptInt process_id;
  int64_t ordinal = 0;
  std::string operation;
  OptText subject, op, shape, scope;
  OptInt site_id, least_ns, dur_ns;
  std::string text;
  static constexpr const char* kTable = "compile_alarm";
  void Fields(auto&& f) const {
    f("process_id", process_id), f("ordinal", ordinal), f("operation", operation);
    f("subject", subject), f("op", op), f("shape", shape), f("scope", scope);
    f("site_id", site_id), f("least_ns", least_ns), f("dur_ns", dur_ns), f("text", text);
  }
};

struct MetricsReportRow {
  int64_t id = 0;
  int64_t source_id = 0;
  OptInt process_id;
  int64_t ordinal = 0;
  OptInt save_number, mark_step;
  static constexpr const char* kTable = "metrics_report";
  void Fields(auto&& f) const {
    f("source_id", source_id), f("process_id", process_id), f("ordinal", ordinal);
    f("save_number", save_number), f("mark_step", mark_step);
  }
};

struct MetricRow {
  int64_t id = 0;
  int64_t report_id = 0;
  std::string name, unit;
  OptInt samples;
  OptReal accumulator, value_rate, rate;
  std::string text;
  static constexpr const char* kTable = "metric";
  void Fields(auto&& f) const {
    f("report_id", report_id), f("name", name), f("unit", unit), f("samples", samples);
    f("accumulator", accumulator), f("value_rate", value_rate), f("rate", rate), f("text", text);
  }
};

struct MetricPercentileRow {
  int64_t metric_id = 0;
  double p = 0, value = 0;
  static constexpr const char* kTable = "metric_percentile";
  void Fields(auto&& f) const { f("metric_id", metric_id), f("p", p), f("value", value); }
};

struct CounterRow {
  int64_t report_id = 0;
  std::string name;
  int64_t value = 0;
  static constexpr const char* kTable = "counter";
  void Fields(auto&& f) const { f("report_id", report_id), f("name", name), f("value", value); }
};

struct SettingRow {
  OptInt process_id;
  std::string name, value, evidence;
  static constexpr const char* kTable = "setting";
  void Fields(auto&& f) const {
    f("process_id", process_id), f("name", name), f("value", value), f("evidence", evidence);
  }
};

struct ProvenanceRow {
  std::string table_name;
  int64_t row_id = 0, source_id = 0;
  OptInt offset, line, ordinal;
  static constexpr const char* kTable = "provenance";
  void Fields(auto&& f) const {
    f("table_name", table_name), f("row_id", row_id), f("source_id", source_id);
    f("offset", offset), f("line", line), f("ordinal", ordinal);
  }
};

}  // namespace xlaprof
