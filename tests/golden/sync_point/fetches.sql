-- case just_fires_by_fetches fetches=84 bytes=4
-- case just_does_not_fire_by_fetches fetches=83 bytes=4
-- case just_fires_by_bytes_of_number fetches=84 bytes=8
-- case just_does_not_fire_by_bytes_of_number fetches=84 bytes=9
--
-- A log of 40 steps shows four reads before the step mark. A metrics report counts more fetches.
--
-- Figure under test: {fetches} fetches of {bytes} bytes each in 40 steps.
-- Threshold: two fetches in each step after its mark are a finding, if their time is 1 % of the run. They are of numbers
-- if they have at most 8 bytes.

INSERT INTO run (id, label, selected, why) VALUES (1, 'forty steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.log', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO source (id, path, format, imported, kind) VALUES (2, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO site (id, function, file, line) VALUES (1, 'train', '/home/ana/fit.py', 52);
INSERT INTO graph (id, process_id, hash, node_count) VALUES (1, 1, 'aa', 9);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39)
INSERT INTO step (id, process_id, ordinal) SELECT i + 1, 1, i FROM n;
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id, step_id) SELECT 1, 10 * ordinal + 9, 1, 'user_sync', 1, id FROM step;
INSERT INTO site (id, function, file, line) VALUES (2, 'train', '/home/ana/fit.py', 31);
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id, step_id) SELECT 1, 10 * ordinal, 1, 'value_access', 2, id FROM step LIMIT 4;
INSERT INTO metrics_report (id, source_id, process_id, ordinal, mark_step) VALUES (1, 2, 1, 0, 40);
INSERT INTO counter (report_id, name, value) VALUES (1, 'MarkStep', 40);
INSERT INTO metric (report_id, name, unit, samples, accumulator, value_rate, rate, text) VALUES
  (1, 'ExecuteTime', 'ns', 40, 1000000000, NULL, NULL, '1s'),
  (1, 'TransferFromDeviceTime', 'ns', {fetches}, 1000000000, 500000000, 40, '1s'),
  (1, 'InboundData', 'bytes', {fetches}, {fetches} * {bytes}, NULL, NULL, '');
