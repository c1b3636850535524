-- case just_fires steps=40 reads=4 nodes=2 nodes_of_step=1
-- case just_does_not_fire steps=40 reads=3 nodes=2 nodes_of_step=1
-- case just_fires_by_second_read steps=10 reads=2 nodes=2 nodes_of_step=1
-- case just_does_not_fire_by_second_read steps=10 reads=1 nodes=2 nodes_of_step=1
-- case just_fires_by_nearly_every_step steps=100 reads=90 nodes=2 nodes_of_step=200
-- case just_does_not_fire_by_nearly_every_step steps=100 reads=89 nodes=2 nodes_of_step=200
-- case just_fires_by_nodes steps=40 reads=20 nodes=2 nodes_of_step=199
-- case just_does_not_fire_by_nodes steps=40 reads=20 nodes=2 nodes_of_step=200
--
-- A training of {steps} steps reads its loss with loss.item() before the step mark, in some of the
-- steps.
--
-- Figure under test: it is read in {reads} of {steps} steps, which evaluates {nodes} nodes beside the
-- {nodes_of_step} of the step.
-- Threshold: a read in a tenth of the steps is a warning, but only if it comes twice. What is rarer is
-- information, and so is a read of at most 1 % of the nodes that is in fewer than 90 %
-- of the steps.

INSERT INTO run (id, label, selected, why) VALUES (1, '{steps} steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.log', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'train', '/home/ana/fit.py', 31), (2, 'train', '/home/ana/fit.py', 52);
INSERT INTO graph (id, process_id, hash, node_count, printed_as) VALUES (1, 1, 'aa', {nodes}, 'ir_text'), (2, 1, 'bb', {nodes_of_step}, 'ir_text');
INSERT INTO graph_node (graph_id, idx, op, shape, operands, root) VALUES
  (1, 0, 'xla::device_data', 'f32[32]', '', NULL), (1, 1, 'aten::mean', 'f32[]', '0', 0), (2, 0, 'xla::device_data', 'f32[32]', '', 0);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {steps} - 1)
INSERT INTO step (id, process_id, ordinal) SELECT i + 1, 1, i FROM n;
-- How many steps read the loss is the figure under test.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {steps} - 1)
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id, step_id)
SELECT 1, 2 * i, 1, 'value_access', 1, i + 1 FROM n LIMIT {reads};
-- Each step ends with a step mark.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {steps} - 1)
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id, step_id)
SELECT 1, 2 * i + 1, 2, 'user_sync', 2, i + 1 FROM n;
