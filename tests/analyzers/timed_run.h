// A store of one process with a clock, written by hand for tests of analyzers: tracks, events in
// microseconds, and rows.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "analyzers/analyzer.h"
#include "profiler/store/events.h"
#include "profiler/store/store.h"

namespace xlaprof {

class TimedRun {
 public:
  TimedRun() : store_(Store::CreateTemporary().value()), writer_(store_) {
    Exec(
        "INSERT INTO run (id, label, started_epoch_ns, selected, why) VALUES (1, 'r', NULL, 1, '');"
        "INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'host.xplane.pb', 'xspace', 1, 'timed');"
        "INSERT INTO process (id, run_id, source_id, segment, host, pid, rank, name) VALUES (1, 1, 1, 0, NULL, NULL, NULL, NULL);");
  }
  void Exec(const std::string& sql) {
    absl::Status status = store_.Exec(sql);
    ASSERT_TRUE(status.ok()) << status;
  }
  int64_t HostThread(const std::string& name = "python") {
    return store_.Add(TrackRow{.process_id = 1, .kind = TrackKind::kHostThread, .name = name})
        .value();
  }
  int64_t Device(const std::string& device = "TPU:0", int64_t process_id = 1) {
    return store_
        .Add(TrackRow{.process_id = process_id,
                      .kind = TrackKind::kDevice,
                      .name = "XLA Modules",
                      .device = device})
        .value();
  }
  void Event(int64_t track, std::string_view category, std::string_view name, int64_t ts_us,
             int64_t dur_us) {
    xlaprof::Event event{.ts_ns = ts_us * 1000,
                         .dur_ns = dur_us * 1000,
                         .name = store_.Intern(name).value(),
                         .category = store_.Intern(category).value()};
    absl::Status status = writer_.Add(track, event);
    ASSERT_TRUE(status.ok()) << status;
  }
  // Adds an event with flows: a call on the host that launches work (out), or that work (in).
  void Flow(int64_t track, std::string_view category, std::string_view name, int64_t ts_us,
            int64_t dur_us, uint64_t flow_in, uint64_t flow_out) {
    xlaprof::Event event{.ts_ns = ts_us * 1000,
                         .dur_ns = dur_us * 1000,
                         .name = store_.Intern(name).value(),
                         .category = store_.Intern(category).value(),
                         .flow_in = flow_in,
                         .flow_out = flow_out};
    absl::Status status = writer_.Add(track, event);
    ASSERT_TRUE(status.ok()) << status;
  }
  // Adds a stream of a device that the host feeds call by call.
  int64_t Stream(const std::string& device = "GPU:0") {
    return store_
        .Add(TrackRow{.process_id = 1,
                      .kind = TrackKind::kDeviceStream,
                      .name = "stream 7",
                      .device = device})
        .value();
  }
  StringId Interned(std::string_view text) { return store_.Intern(text).value(); }
  void Arg(std::string_view key, const ArgValue& value) {
    writer_.Arg(store_.Intern(key).value(), value);
  }
  // Adds a step row and its event on `track`.
  int64_t Step(int64_t track, int64_t ts_us, int64_t dur_us, std::string_view name = "train") {
    Event(track, TextOf(Category::kStep), name, ts_us, dur_us);
    return store_
        .Add(StepRow{
            .process_id = 1, .ordinal = steps_++, .ts_ns = ts_us * 1000, .dur_ns = dur_us * 1000})
        .value();
  }
  void UntimedStep() {
    EXPECT_TRUE(store_.Add(StepRow{.process_id = 1, .ordinal = steps_++}).ok());
  }
  int64_t Report(int64_t marks) {
    return store_
        .Add(MetricsReportRow{
            .source_id = 1, .process_id = 1, .ordinal = reports_++, .mark_step = marks})
        .value();
  }
  void Metric(int64_t report, const std::string& name, MetricUnit unit, int64_t samples, double sum,
              std::map<double, double> percentiles = {}) {
    int64_t id = store_
                     .Add(MetricRow{.report_id = report,
                                    .name = name,
                                    .unit = unit,
                                    .samples = samples,
                                    .accumulator = sum})
                     .value();
    for (auto [p, value] : percentiles)
      EXPECT_TRUE(store_.Add(MetricPercentileRow{id, p, value}).ok());
  }
  Store& store() {
    EXPECT_TRUE(writer_.Flush().ok());
    return store_;
  }
  Findings Run(const Analyzer& analyzer) {
    absl::StatusOr<Findings> findings = Analyze(xlaprof::Run(store()), analyzer);
    EXPECT_TRUE(findings.ok()) << findings.status();
    return findings.ok() ? *findings : Findings();
  }

 private:
  Store store_;
  EventWriter writer_;
  int64_t steps_ = 0, reports_ = 0;
};

}  // namespace xlaprof
