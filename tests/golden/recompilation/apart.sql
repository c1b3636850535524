-- case just_fires_by_later_uploads uploads=100
-- case just_does_not_fire_by_later_uploads uploads=101
--
-- A program prints four metrics reports, and clears its metrics after each. Each counts ten steps and three
-- compilations.
--
-- Figure under test: the first report counts 400 uploads, and each later one counts {uploads}.
-- Threshold: the reports come from one process if the later ones upload at most a quarter of the first.

INSERT INTO run (id, label, selected, why) VALUES (1, 'four reports', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
CREATE TEMP TABLE sample AS SELECT column1 AS id, column2 AS uploads FROM (VALUES (1, 400), (2, {uploads}), (3, {uploads}), (4, {uploads}));
INSERT INTO import_issue (source_id, code, severity, count, advice) VALUES (1, 'separate_reports', 'info', 3, 'Each of these reports counts separately.');
INSERT INTO metrics_report (id, source_id, process_id, ordinal, mark_step) SELECT id, 1, 1, id - 1, 10 FROM sample;
INSERT INTO counter (report_id, name, value) SELECT id, 'MarkStep', 10 FROM sample;
INSERT INTO metric (report_id, name, unit, samples, accumulator, text)
SELECT id, 'ExecuteTime', 'ns', 10, 10000000000, '' FROM sample UNION ALL
SELECT id, 'CompileTime', 'ns', 3, 3000000000, '' FROM sample UNION ALL
SELECT id, 'TransferToDeviceTime', 'ns', uploads, 1000 * uploads, '' FROM sample;
