-- A metrics report of 100 steps, in which no op runs on the CPU.

INSERT INTO run (id, label, selected, why) VALUES (1, '100 steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO metrics_report (id, source_id, process_id, ordinal, mark_step) VALUES (1, 1, 1, 0, 100);
INSERT INTO counter (report_id, name, value) VALUES (1, 'MarkStep', 100);
INSERT INTO metric (report_id, name, unit, samples, accumulator, text) VALUES (1, 'ExecuteTime', 'ns', 100, 1000000000, '1s');
