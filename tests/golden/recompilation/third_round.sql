-- case just_fires_by_third_round executions=8
-- case just_does_not_fire_by_third_round executions=9
--
-- A log without step marks and lines. The program executes three graphs in turn, as one does that
-- cuts each iteration into three pieces. Each of them is compiled before its first execution.
--
-- Figure under test: the graphs run {executions} times in all. Nine are three rounds.
-- Threshold: graphs that take turns for three rounds are pieces of one iteration, and no
-- recompilation. In fewer rounds they may be new forms of one graph.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'log.txt', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO graph (id, process_id, hash, node_count) VALUES (1, 1, 'a', 111), (2, 1, 'b', 6), (3, 1, 'c', 7);
INSERT INTO compile (id, process_id, ordinal, graph_id, dur_ns, dur_from, inferred) VALUES
  (1, 1, 0, 1, 2000000000, 'log', 0), (2, 1, 2, 2, 2000000000, 'log', 0), (3, 1, 4, 3, 2000000000, 'log', 0);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {executions} - 1)
INSERT INTO execution (process_id, ordinal, graph_id, dur_ns)
SELECT 1, iif(i < 3, 2 * i + 1, 3 + i), i % 3 + 1, 4000000 FROM n;
