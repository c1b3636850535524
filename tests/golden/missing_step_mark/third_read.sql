-- case just_fires_by_third_read reads=3
-- case just_does_not_fire_by_third_read reads=2
--
-- A training loop marks no step, so each read of the loss evaluates all that was recorded since the
-- start. The loop counts 40 steps itself, and reads the loss in some of them. The graph doubles
-- meanwhile.
--
-- Figure under test: {reads} reads.
-- Threshold: growth is distinguished from warm-up from three reads on.

INSERT INTO run (id, label, selected, why) VALUES (1, 'no step mark', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.log', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'train', '/home/ana/fit.py', 31);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39)
INSERT INTO step (id, process_id, ordinal) SELECT i + 1, 1, i FROM n;
INSERT INTO graph (id, process_id, hash, node_count, printed_as) VALUES (1, 1, 'aa', 100, 'ir_text'), (2, 1, 'bb', 125, 'ir_text'), (3, 1, 'cc', 200, 'ir_text');
-- How many of these reads there are is the figure under test.
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id, step_id)
SELECT 1, graph.id, graph.id, 'value_access', 1, 1 + 10 * graph.id FROM graph ORDER BY graph.id DESC LIMIT {reads};
