-- case just_fires_by_metrics tracing_ms=10100 percent=40
-- case just_does_not_fire_by_metrics tracing_ms=9900 percent=40
-- case just_fires_by_share_of_wall_time tracing_ms=20000 percent=5.1
-- case just_does_not_fire_by_share_of_wall_time tracing_ms=20000 percent=4.9
--
-- A metrics report of 100 steps shows how long tracing and executions took.
--
-- Figure under test: tracing took {tracing_ms} ms, which is {percent} % of the wall time by its rate, and the
-- executions took 10,000 ms.
-- Threshold: a program is bound by tracing if that takes longer than the executions, and at least 5 %
-- of the wall time.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a report', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO metrics_report (id, source_id, process_id, ordinal, mark_step) VALUES (1, 1, 1, 0, 100);
INSERT INTO counter (report_id, name, value) VALUES (1, 'MarkStep', 100);
INSERT INTO metric (report_id, name, unit, samples, accumulator, text) VALUES (1, 'ExecuteTime', 'ns', 100, 10 * 1000000000, '10s');
-- The time of tracing, and its part of the wall time: its rate is in ns per second.
INSERT INTO metric (report_id, name, unit, samples, accumulator, value_rate, rate, text)
VALUES (1, 'LazyTracing', 'ns', 50000, {tracing_ms} * 1000000, {percent} * 10000000, 100, '');
