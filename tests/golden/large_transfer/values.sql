-- case just_fires_by_values sending_s=10.1 uploads=300 steps=100
-- case just_does_not_fire_by_values sending_s=9.9 uploads=300 steps=100
-- case just_fires_by_half_of_execution sending_s=5.1 uploads=300 steps=100
-- case just_does_not_fire_by_half_of_execution sending_s=4.9 uploads=300 steps=100
-- case just_fires_by_hundredth_value sending_s=10.1 uploads=100 steps=50
-- case just_does_not_fire_by_hundredth_value sending_s=10.1 uploads=99 steps=50
-- case just_fires_by_twentieth_step sending_s=10.1 uploads=300 steps=20
-- case just_does_not_fire_by_twentieth_step sending_s=10.1 uploads=300 steps=19
--
-- A metrics report of {steps} steps shows that the host's tensors are sent to the device one by one,
-- {uploads} in all.
--
-- Figure under test: sending {uploads} tensors takes {sending_s} s, against 10 s of execution.
-- Threshold: it is information if it takes half as long as the execution, from 100 tensors on, and a
-- warning if it takes longer than the execution. In fewer than 20 steps, the tensors may be the
-- weights, which is only information.

INSERT INTO run (id, label, selected, why) VALUES (1, '{steps} steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO metrics_report (id, source_id, process_id, ordinal, mark_step) VALUES (1, 1, 1, 0, {steps});
INSERT INTO counter (report_id, name, value) VALUES (1, 'MarkStep', {steps});
-- The steps execute for 10 s.
INSERT INTO metric (id, report_id, name, unit, samples, accumulator, text) VALUES (1, 1, 'ExecuteTime', 'ns', {steps}, 10000000000, '');
-- Their time is the figure under test.
INSERT INTO metric (id, report_id, name, unit, samples, accumulator, text) VALUES (2, 1, 'IrValueTensorToXlaData', 'ns', {uploads}, {sending_s} * 1000000000, '');
