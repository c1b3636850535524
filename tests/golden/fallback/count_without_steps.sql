-- case just_fires_by_count_without_steps calls=3
-- case just_does_not_fire_by_count_without_steps calls=2
--
-- A metrics report counts calls of aten::nonzero, which torch_xla runs on the CPU. It was cut
-- before the counter of the steps.
--
-- Figure under test: {calls} calls.
-- Threshold: where the number of steps is not known, three calls are a warning.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a report', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO metrics_report (id, source_id, process_id, ordinal, mark_step) VALUES (1, 1, 1, 0, NULL);
INSERT INTO counter (report_id, name, value) VALUES (1, 'CachedCompile', 100);
INSERT INTO metric (report_id, name, unit, samples, accumulator, text) VALUES (1, 'ExecuteTime', 'ns', 100, 1000000000, '1s');
-- The number of calls is the figure under test.
INSERT INTO fallback (id, process_id, op, count) VALUES (1, 1, 'aten::nonzero', {calls});
