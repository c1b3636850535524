-- case just_fires_by_made_state filled=4 earlier=0
-- case just_does_not_fire_by_made_state filled=3 earlier=0
-- case just_fires_by_last_with_state filled=5 earlier=1
-- case just_does_not_fire_by_last_with_state filled=5 earlier=2
--
-- A training of 20 steps makes the state of its optimizer in one step. The graph of the next step has five
-- inputs for it.
--
-- Figure under test: the graph before fills {filled} tensors of their shape. {earlier} other graphs were compiled at
-- the place before.
-- Threshold: the inputs are new state if the graph before filled 80 % of them, and if their graph is at
-- most the third one that is compiled there.

INSERT INTO run (id, label, selected, why) VALUES (1, '20 steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'graphs.txt', 'ir_dump', 1, 'executed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'train', '/home/ana/fit.py', 31);
CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19) SELECT i FROM n;
-- Graphs of other batches, then the one that fills the state, and the one that has it as inputs.
INSERT INTO graph (id, process_id, hash, node_count, printed_as) SELECT i + 1, 1, 'graph ' || i, iif(i < {earlier} + 1, 2 + {filled}, 6), 'ir_text' FROM n WHERE i < {earlier} + 2;
INSERT INTO graph_node (graph_id, idx, op, shape, operands, attributes, location)
SELECT id, 0, 'xla::device_data', 'f32[' || iif(id <= {earlier}, 8 * id, 128) || ',64]', '', NULL, 'train@fit.py:24' FROM graph UNION ALL
SELECT id, 1, 'prim::Constant', 'f32[]', '', 'value=0', 'step@adam.py:12' FROM graph WHERE id <= {earlier} + 1 UNION ALL
SELECT id, 2 + i, 'aten::expand', 'f32[64,64]', '1', NULL, 'step@adam.py:12' FROM graph, n WHERE id <= {earlier} + 1 AND i < {filled} UNION ALL
SELECT id, 1 + i, 'xla::device_data', 'f32[64,64]', '', NULL, 'step@adam.py:12' FROM graph, n WHERE id = {earlier} + 2 AND i < 5;
INSERT INTO step (id, process_id, ordinal) SELECT i + 1, 1, i FROM n;
CREATE TEMP TABLE ran AS SELECT i, min(1 + i / 5, {earlier} + 2) AS id FROM n;
INSERT INTO compile (process_id, ordinal, graph_id, cause, site_id, step_id, inferred) SELECT 1, 2 * min(i), id, 'user_sync', 1, 1 + min(i), 1 FROM ran GROUP BY id;
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id, step_id) SELECT 1, 2 * i + 1, id, 'user_sync', 1, 1 + i FROM ran;
