-- case just_fires_by_compiles graphs=3
-- case just_does_not_fire_by_compiles graphs=2
--
-- A debug log of level 1 shows only compilations. Some were made for a read of a value before the
-- step mark.
--
-- Figure under test: {graphs} graphs were compiled for the read.
-- Threshold: where only compilations are known, three of one read are a warning.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.log', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'train', '/home/ana/fit.py', 31), (2, 'train', '/home/ana/fit.py', 52);
-- The number of these graphs is the figure under test.
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO compile (process_id, ordinal, cause, site_id, inferred) SELECT 1, i, 'value_access', 1, 0 FROM n LIMIT {graphs};
