-- case just_fires nodes=150
-- case just_does_not_fire nodes=149
--
-- A training loop marks no step, so each read of the loss evaluates all that was recorded since the
-- start. The loop counts 40 steps itself, and reads the loss in three of them.
--
-- Figure under test: the graph grows from 100 to {nodes} nodes.
-- Threshold: growth to 1.5 times the nodes is a warning. Below that the graphs do not grow.

INSERT INTO run (id, label, selected, why) VALUES (1, 'no step mark', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.log', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'train', '/home/ana/fit.py', 31);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39)
INSERT INTO step (id, process_id, ordinal) SELECT i + 1, 1, i FROM n;
-- The nodes of the last graph are the figure under test.
INSERT INTO graph (id, process_id, hash, node_count, printed_as) VALUES (1, 1, 'aa', 100, 'ir_text'), (2, 1, 'bb', 125, 'ir_text'), (3, 1, 'cc', {nodes}, 'ir_text');
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id, step_id) VALUES
  (1, 0, 1, 'value_access', 1, 1), (1, 1, 2, 'value_access', 1, 21), (1, 2, 3, 'value_access', 1, 40);
