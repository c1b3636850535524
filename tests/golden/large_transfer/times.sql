-- case just_fires_by_times copies_s=10.1 execution_ms=100 uploads=100
-- case just_does_not_fire_by_times copies_s=9.9 execution_ms=100 uploads=100
-- case just_fires_by_times_and_mention copies_s=3.1 execution_ms=70 uploads=100
-- case just_does_not_fire_by_times_and_mention copies_s=2.9 execution_ms=70 uploads=100
-- case just_fires_by_tenth_upload execution_ms=100 copies_s=10.1 uploads=10
-- case just_does_not_fire_by_tenth_upload execution_ms=100 copies_s=10.1 uploads=9
--
-- A metrics report of 100 steps times the copies to the device, but not their bytes.
--
-- Figure under test: {uploads} copies take {copies_s} s, against {execution_ms} ms of execution in each step.
-- Threshold: copies are mentioned from 30 % of the time that the report covers, and are a warning from
-- half of it on. Fewer than ten may all be the weights.

INSERT INTO run (id, label, selected, why) VALUES (1, '100 steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO metrics_report (id, source_id, process_id, ordinal, mark_step) VALUES (1, 1, 1, 0, 100);
INSERT INTO counter (report_id, name, value) VALUES (1, 'MarkStep', 100);
-- Each step executes for {execution_ms} ms.
INSERT INTO metric (id, report_id, name, unit, samples, accumulator, text) VALUES (1, 1, 'ExecuteTime', 'ns', 100, 100 * 1000000 * {execution_ms}, '');
-- Their time is the figure under test.
INSERT INTO metric (id, report_id, name, unit, samples, accumulator, text) VALUES (2, 1, 'TransferToDeviceTime', 'ns', {uploads}, {copies_s} * 1000000000, '');
