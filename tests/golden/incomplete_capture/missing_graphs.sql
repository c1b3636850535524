-- case just_fires_by_missing_graphs compilations=2
-- case just_does_not_fire_by_missing_graphs compilations=1
--
-- A debug log of six steps shows compilations, and no file holds the graphs. The finding is only
-- information.
--
-- Figure under test: the log shows {compilations} compilation(s).
-- Threshold: from the second compilation on the report asks for the graphs, which alone tell why it
-- came.

INSERT INTO run (id, label, selected, why) VALUES (1, 'six steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.log', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'train', '/home/ana/fit.py', 31);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5)
INSERT INTO step (id, process_id, ordinal) SELECT i + 1, 1, i FROM n;
-- The number of compilations is the figure under test.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5)
INSERT INTO compile (process_id, ordinal, cause, site_id, step_id, inferred) SELECT 1, 2 * i, 'user_sync', 1, i + 1, 0 FROM n LIMIT {compilations};
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5)
INSERT INTO execution (process_id, ordinal, cause, site_id, step_id, dur_ns) SELECT 1, 2 * i + 1, 'user_sync', 1, i + 1, 10000000 FROM n;
