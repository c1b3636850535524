-- case just_fires_by_values sending_s=10.1
-- case just_does_not_fire_by_values sending_s=9.9
--
-- A metrics report of 100 steps shows that the host's tensors are sent to the device one by one,
-- three in each step.
--
-- Figure under test: sending them takes {sending_s} s, against 10 s of execution.
-- Threshold: it is a warning if it takes longer than the execution, and information from half of
-- that on.

INSERT INTO run (id, label, selected, why) VALUES (1, '100 steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO metrics_report (id, source_id, process_id, ordinal, mark_step) VALUES (1, 1, 1, 0, 100);
INSERT INTO counter (report_id, name, value) VALUES (1, 'MarkStep', 100);
-- Each step executes for 100 ms.
INSERT INTO metric (id, report_id, name, unit, samples, accumulator, text) VALUES (1, 1, 'ExecuteTime', 'ns', 100, 100 * 100000000, '');
-- Their time is the figure under test.
INSERT INTO metric (id, report_id, name, unit, samples, accumulator, text) VALUES (2, 1, 'IrValueTensorToXlaData', 'ns', 300, {sending_s} * 1000000000, '');
