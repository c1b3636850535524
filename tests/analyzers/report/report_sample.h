// Makes reports by hand: one that has every part, and a clean one.
#pragma once

#include "analyzers/analyzer.h"
#include "analyzers/report/report.h"

namespace xlaprof {

extern const Analyzer recompilation, sync_point, slow_compile, incomplete_capture;

inline Report SampleReport() {
  Report report;
  report.run_label = "2026_11_21";
  report.base_epoch_ns = 1'790'000'000'000'000'000;
  report.start_ns = 1'000'000;
  report.sources = {
      {.id = 1,
       .path = "/runs/7/log.txt",
       .format = "debug_log",
       .bytes = 52'000,
       .imported = true},
      {.id = 2,
       .path = "/runs/7/tb/vm.xplane.pb",
       .format = "xspace",
       .bytes = 1'188'000,
       .clock_offset_ns = 0,
       .imported = true},
      {.id = 3,
       .path = "/runs/7/tb/vm.trace.json.gz",
       .derived_from = "vm.xplane.pb",
       .note = "made from another file"},
      {.id = 4, .path = "/runs/7/notes.md", .note = "not recognised: looks like text"}};
  report.runs = {{.id = 1, .label = "2026_11_20", .why = "folder"},
                 {.id = 2, .label = "2026_11_21", .selected = true, .why = "folder"}};
  Summary& s = report.summary;
  s.steps = 10, s.timed_steps = 10, s.wall_ns = 1'000'000'000,
  s.time_to_first_step_ns = 400'000'000, s.warm_up_steps = 2;
  s.steady_steps = 8;
  s.step_p50_ns = 60'000'000, s.step_p99_ns = 90'000'000, s.warm_up_step_p50_ns = 200'000'000;
  s.compile_count = 7, s.execution_count = 10, s.compile_ns = 500'000'000,
  s.tracing_ns = 100'000'000, s.execute_ns = 250'000'000;
  s.device_busy_ns = 250'000'000, s.device_idle_ns = 750'000'000;
  s.devices = {{"CPU:0", 250'000'000, 1'000'000'000}};
  report.steady = {.steps = 8,
                   .step_ns = 60'000'000,
                   .host = {{Doing::kTracing, 45'000'000}, {Doing::kUserCode, 15'000'000}},
                   .device_busy_ns = 20'000'000,
                   .device_idle_ns = 40'000'000};
  s.coverage = {{.path = "/runs/7/log.txt",
                 .format = "debug_log",
                 .steps = 10,
                 .compiles = 7,
                 .executions = 10},
                {.path = "/runs/7/tb/vm.xplane.pb",
                 .format = "xspace",
                 .steps = 10,
                 .compiles = 7,
                 .executions = 10,
                 .events = 12'345,
                 .from_ns = 1'000'000,
                 .to_ns = 1'001'000'000}};
  report.findings = {
      {.analyzer = &recompilation,
       .severity = Severity::kWarning,
       .subject = {.file = "/home/u/train.py", .line = 7, .function = "step"},
       .count = 5,
       .per_step = 0.5,
       .cost_ns = 400'000'000,
       .saving_ns = 380'000'000,
       .reason = Reason{.type = ReasonType::kShapeChange,
                        .state = State::kOngoing,
                        .node = "xla::device_data",
                        .before = "f32[64,784]",
                        .after = "f32[48,784]",
                        .location = RecordedPlace{{.file = "train.py", .line = 7}, true}},
       .evidence = {{.table = "compile", .rows = {3, 4}}},
       .words = {.title = "compiled 5 times after warm-up",
                 .why = "the batch varies",
                 .cost_note = "measured",
                 .saving_note = "one compile stays",
                 .advice = "Pad the last batch."},
       .fingerprint = "00000000000000aa"},
      {.analyzer = &sync_point,
       .severity = Severity::kWarning,
       .subject = {.file = "/home/u/train.py", .line = 9},
       .count = 10,
       .per_step = 1.0,
       .words = {.title = "a value is read",
                 .cost_note = "unmeasured: no profile",
                 .advice = "Pad the last batch."},
       .fingerprint = "00000000000000bb"},
      {.analyzer = &slow_compile,
       .words = {.title = "7 graphs took 500 ms"},
       .fingerprint = "00000000000000cc"},
      {.analyzer = &incomplete_capture,
       .reason = Reason{.type = ReasonType::kNoGraphs},
       .words = {.title = "no source holds the graphs",
                 .cost_note = "does not apply",
                 .advice = "Dump them."},
       .fingerprint = "00000000000000dd"}};
  report.issues = {{.path = "/runs/7/log.txt",
                    .code = "cut_block",
                    .severity = Severity::kWarning,
                    .advice = "a block ends early",
                    .count = 2,
                    .line = 120}};
  report.settings = {
      {.name = SettingName::kIrDebug, .value = "1", .evidence = "frames in the dump"}};
  return report;
}

inline Report CleanReport() {
  Report report = SampleReport();
  report.findings.clear(), report.issues.clear(), report.settings.clear();
  return report;
}

// A capture may hold names like this to harm the reader of the report.
inline const char* const kHostile =
    "</details><script>alert(1)</script>\x1b[2J`|@team\n# x ```\xff https://evil.example [a](b)";

inline Report HostileReport() {
  Report report = SampleReport();
  Finding& finding = report.findings[0];
  finding.words.title = finding.words.advice = finding.words.cost_note = finding.words.why =
      kHostile;
  finding.subject = {
      .file = kHostile, .line = 1, .function = kHostile, .scope = kHostile, .op = kHostile};
  finding.reason = Reason{.type = ReasonType::kUnknown,
                          .node = kHostile,
                          .before = kHostile,
                          .after = std::string(kHostile) + "y",
                          .location = RecordedPlace{{.file = kHostile}}};
  report.summary.devices[0].name = kHostile;
  for (Coverage& c : report.summary.coverage) c.path = c.note = kHostile;
  for (SourceRow& source : report.sources) source.path += kHostile;
  report.issues[0].advice = report.issues[0].path = kHostile;
  report.settings[0].evidence = kHostile;
  report.runs[0].label = kHostile;
  return report;
}

}  // namespace xlaprof
