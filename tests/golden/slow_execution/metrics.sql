-- case just_fires_by_metrics longest_ms=30100
-- case just_does_not_fire_by_metrics longest_ms=29900
--
-- A metrics report of 100 steps shows the percentiles of their executions.
--
-- Figure under test: the longest execution takes {longest_ms} ms.
-- Threshold: an execution of more than 30 s is a warning.

INSERT INTO run (id, label, selected, why) VALUES (1, '100 steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO metrics_report (id, source_id, process_id, ordinal, mark_step) VALUES (1, 1, 1, 0, 100);
INSERT INTO counter (report_id, name, value) VALUES (1, 'MarkStep', 100);
INSERT INTO metric (id, report_id, name, unit, samples, accumulator, text) VALUES (1, 1, 'ExecuteTime', 'ns', 100, 1000000000000, '1000s');
-- The longest execution is the figure under test.
INSERT INTO metric_percentile (metric_id, p, value) VALUES (1, 50, 10000000000), (1, 99, {longest_ms} * 1000000);
