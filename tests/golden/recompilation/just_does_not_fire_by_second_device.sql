-- A step runs on two devices of one process, and at first on one of them. The lazy runtime compiles its graph for each of them.
--
-- Figure under test: the graph is compiled twice, on two devices.
-- Threshold: a graph that is compiled again for another device was not evicted from a cache.

INSERT INTO run (id, label, selected, why) VALUES (1, 'two devices', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'run.log', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'Train', '/home/ana/train.cc', 31);
INSERT INTO graph (id, process_id, hash, name, printed_as) VALUES (1, 1, 'aaaa', 'SyncTensorsGraph.1', 'ir_text'), (2, 1, 'bbbb', 'SyncTensorsGraph.2', 'ir_text');
CREATE TEMP TABLE steps AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 29) SELECT i FROM n;
INSERT INTO step (id, process_id, ordinal) SELECT i + 1, 1, i FROM steps;
-- The device on which it is compiled again is the figure under test. Another graph lies between.
INSERT INTO compile (process_id, ordinal, cause, graph_id, site_id, step_id, dur_ns, dur_from, inferred) VALUES
  (1, 0, 'user_sync', 1, 1, 1, 900000000, 'log', 0), (1, 1, 'user_sync', 2, 1, 2, 900000000, 'log', 0), (1, 2, 'user_sync', 1, 1, 3, 900000000, 'log', 0);
INSERT INTO execution (process_id, ordinal, cause, graph_id, site_id, step_id, device)
SELECT 1, 10 + 2 * i + d, 'user_sync', iif(i = 1, 2, 1), 1, i + 1, 'CPU:' || d FROM steps, (SELECT 0 AS d UNION SELECT 1) WHERE i >= 2 OR d = 0;
