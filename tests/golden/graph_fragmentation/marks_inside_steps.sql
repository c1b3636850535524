-- A model marks a step after each of its three layers (model.py:22), and the loader marks the end of
-- the step (train.py:40). The log shows ten steps. The import has given the executions their steps.

INSERT INTO run (id, label, selected, why) VALUES (1, 'marks inside steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.log', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, file, line, function) VALUES (1, 'model.py', 22, 'forward'), (2, 'train.py', 40, 'main');
CREATE TEMP TABLE steps AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 10) SELECT i FROM n;
CREATE TEMP TABLE pieces AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 4) SELECT i AS k FROM n;
INSERT INTO step (id, process_id, ordinal) SELECT i + 1, 1, i FROM steps;
INSERT INTO execution (process_id, ordinal, cause, site_id, step_id)
SELECT 1, 10 * i + k, iif(k < 3, 'user_sync', 'parallel_loader'), iif(k < 3, 1, 2), i + 1 FROM steps, pieces;
