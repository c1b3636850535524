-- case just_fires_by_pieces first=5
-- case just_does_not_fire_by_pieces first=4
--
-- A log of 20 steps. One line executes a graph in each step, and from some step on another one after it.
--
-- Figure under test: the second graph comes from step {first} of 0 to 19 on.
-- Threshold: graphs that a line executes in the same order in 80 % of its steps are pieces of the step, and
-- no recompilation.

INSERT INTO run (id, label, selected, why) VALUES (1, '20 steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.log', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'train', '/home/ana/fit.py', 31);
INSERT INTO graph (id, process_id, hash, node_count) VALUES (1, 1, 'aa', 111), (2, 1, 'bb', 7);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19)
INSERT INTO step (id, process_id, ordinal) SELECT i + 1, 1, i FROM n;
INSERT INTO compile (process_id, ordinal, graph_id, cause, site_id, step_id, inferred) VALUES
  (1, 0, 1, 'user_sync', 1, 1, 0), (1, 10 * {first} + 2, 2, 'user_sync', 1, 1 + {first}, 0);
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id, step_id)
SELECT 1, 10 * ordinal + 1, 1, 'user_sync', 1, id FROM step UNION ALL
SELECT 1, 10 * ordinal + 3, 2, 'user_sync', 1, id FROM step WHERE ordinal >= {first};
