-- case just_fires_by_metrics executions=400
-- case just_does_not_fire_by_metrics executions=399
-- case just_fires_by_metrics_and_mention executions=300
-- case just_does_not_fire_by_metrics_and_mention executions=299
--
-- A metrics report counts executions and step marks, and nothing else.
--
-- Figure under test: {executions} executions for 100 step marks.
-- Threshold: four executions per step are a warning, and three are information.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a report', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO metrics_report (id, source_id, process_id, ordinal, mark_step) VALUES (1, 1, 1, 0, 100);
INSERT INTO counter (report_id, name, value) VALUES (1, 'MarkStep', 100);
-- The number of executions is the figure under test.
INSERT INTO metric (report_id, name, unit, samples, accumulator, text) VALUES (1, 'ExecuteTime', 'ns', {executions}, 1000000000, '1s');
