-- case just_fires_by_rarer_bytes copies=50
-- case just_does_not_fire_by_rarer_bytes copies=49
--
-- A metrics report of 100 steps counts the bytes that were sent to the device, in some of the steps
-- and 1 GB at a time.
--
-- Figure under test: {copies} copies in 100 steps.
-- Threshold: copies are reported if there is one in two steps.

INSERT INTO run (id, label, selected, why) VALUES (1, '100 steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO metrics_report (id, source_id, process_id, ordinal, mark_step) VALUES (1, 1, 1, 0, 100);
INSERT INTO counter (report_id, name, value) VALUES (1, 'MarkStep', 100);
-- Each step executes for 100 ms.
INSERT INTO metric (id, report_id, name, unit, samples, accumulator, text) VALUES (1, 1, 'ExecuteTime', 'ns', 100, 100 * 100000000, '');
-- The number of copies is the figure under test.
INSERT INTO metric (id, report_id, name, unit, samples, accumulator, text) VALUES (2, 1, 'OutboundData', 'bytes', {copies}, {copies} * 1000000000, '');
INSERT INTO metric_percentile (metric_id, p, value) VALUES (2, 50, 1000000000);
