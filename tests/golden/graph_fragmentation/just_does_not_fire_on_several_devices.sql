-- A step runs on four devices, each of which has its own execution of the step's graph.
--
-- Figure under test: 1 execution in each step of a device, and 4 of all devices.
-- Threshold: four executions in the median step are a warning, and three are information.

INSERT INTO run (id, label, selected, why) VALUES (1, 'four devices', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'run.xlaprof', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
-- The steps, and the devices.
CREATE TEMP TABLE steps AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 3) SELECT i FROM n;
CREATE TEMP TABLE pieces AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 4) SELECT i AS k FROM n;
INSERT INTO step (id, process_id, ordinal) SELECT i + 1, 1, i FROM steps;
INSERT INTO execution (process_id, ordinal, cause, step_id, device)
SELECT 1, 10 * i + k, 'user_sync', i + 1, 'CPU:' || k FROM steps, pieces;
