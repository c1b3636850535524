-- case just_fires steps=100 calls=10
-- case just_does_not_fire steps=100 calls=9
-- case just_fires_by_second_call steps=10 calls=2
-- case just_does_not_fire_by_second_call steps=10 calls=1
--
-- A metrics report of {steps} steps counts calls of aten::nonzero, which torch_xla runs on the CPU.
--
-- Figure under test: {calls} call(s) in {steps} steps.
-- Threshold: a call in a tenth of the steps is a warning, but only if there are two calls or more. What
-- is rarer is information.

INSERT INTO run (id, label, selected, why) VALUES (1, '{steps} steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO metrics_report (id, source_id, process_id, ordinal, mark_step) VALUES (1, 1, 1, 0, {steps});
INSERT INTO counter (report_id, name, value) VALUES (1, 'MarkStep', {steps});
INSERT INTO metric (report_id, name, unit, samples, accumulator, text) VALUES (1, 'ExecuteTime', 'ns', {steps}, 1000000000, '1s');
-- The number of calls is the figure under test.
INSERT INTO fallback (id, process_id, op, count) VALUES (1, 1, 'aten::nonzero', {calls});
