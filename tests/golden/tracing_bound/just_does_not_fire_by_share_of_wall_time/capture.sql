-- A metrics report of 100 steps shows how long tracing and executions took: 20 s and 10 s.
--
-- Figure under test: tracing took 4.9 % of the wall time, by its rate.
-- Threshold: tracing counts from 5 % of the wall time on.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a report', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO metrics_report (id, source_id, process_id, ordinal, mark_step) VALUES (1, 1, 1, 0, 100);
INSERT INTO counter (report_id, name, value) VALUES (1, 'MarkStep', 100);
INSERT INTO metric (report_id, name, unit, samples, accumulator, text) VALUES (1, 'ExecuteTime', 'ns', 100, 10 * 1000000000, '10s');
-- The time of tracing, and its part of the wall time: its rate is in ns per second.
INSERT INTO metric (report_id, name, unit, samples, accumulator, value_rate, rate, text)
VALUES (1, 'LazyTracing', 'ns', 50000, 20000 * 1000000, 4.9 * 10000000, 100, '');
