-- case just_fires_by_third_transfer transfers=3
-- case just_does_not_fire_by_third_transfer transfers=2
-- case just_fires_by_transfers transfers=10
-- case just_does_not_fire_by_transfers transfers=9
--
-- A metrics report of 100 steps counts transfers from the device, and no read of a number.
--
-- Figure under test: {transfers} transfers in 100 steps.
-- Threshold: a fetch in a tenth of the steps is a warning. What is rarer is information, from three
-- transfers on. Fewer are a start or an end.

INSERT INTO run (id, label, selected, why) VALUES (1, '100 steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO metrics_report (id, source_id, process_id, ordinal, mark_step) VALUES (1, 1, 1, 0, 100);
INSERT INTO counter (report_id, name, value) VALUES (1, 'MarkStep', 100);
INSERT INTO metric (report_id, name, unit, samples, accumulator, text) VALUES (1, 'ExecuteTime', 'ns', 100, 1000000000, '1s');
-- The number of transfers is the figure under test.
INSERT INTO metric (report_id, name, unit, samples, accumulator, text) VALUES (1, 'TransferFromDeviceTime', 'ns', {transfers}, 100000000, '100ms');
