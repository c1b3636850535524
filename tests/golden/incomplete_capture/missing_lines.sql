-- case just_fires_by_missing_lines lines=0
-- case just_does_not_fire_by_missing_lines lines=1
--
-- A metrics report counts, but names no line of the code. The finding is only information.
--
-- Figure under test: the files name {lines} line(s) of code.
-- Threshold: the report asks for a debug log if the files name no line at all.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a report', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO metrics_report (id, source_id, process_id, ordinal, mark_step) VALUES (1, 1, 1, 0, 100);
INSERT INTO counter (report_id, name, value) VALUES (1, 'MarkStep', 100);
INSERT INTO metric (report_id, name, unit, samples, accumulator, text) VALUES (1, 'ExecuteTime', 'ns', 100, 1000000000, '1s');
-- How many lines are named is the figure under test.
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
INSERT INTO site (id, function, file, line) SELECT i, 'train', '/home/ana/fit.py', 30 + i FROM n LIMIT {lines};
