-- case just_fires_by_rounds turns=8
-- case just_does_not_fire_by_rounds turns=7
--
-- A program marks no step, and reads a value of another graph of the same size seven times at one line.
--
-- Figure under test: the last graph multiplies with the same weights in {turns} equal turns.
-- Threshold: eight turns may be the rounds of a loop without a step mark. Fewer may be layers.

INSERT INTO run (id, label, selected, why) VALUES (1, 'no step mark', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.log', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'train', '/home/ana/fit.py', 31);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 7)
INSERT INTO graph (id, process_id, hash, node_count, printed_as) SELECT i, 1, 'graph ' || i, 3 + 3 * {turns}, 'ir_text' FROM n;
INSERT INTO graph_node (graph_id, idx, op, shape, operands) VALUES
  (7, 0, 'xla::device_data', 'f32[8,64]', ''), (7, 1, 'xla::device_data', 'f32[64,64]', ''), (7, 2, 'xla::device_data', 'f32[8,64]', '');
WITH RECURSIVE turn(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM turn WHERE i + 1 < {turns})
INSERT INTO graph_node (graph_id, idx, op, shape, operands, location)
SELECT 7, 3 + 3 * i, 'aten::mm', 'f32[8,64]', iif(i = 0, 0, 2 + 3 * i) || ',1', 'forward@/home/ana/model.py:13' FROM turn
UNION ALL SELECT 7, 4 + 3 * i, 'aten::tanh', 'f32[8,64]', 3 + 3 * i, 'forward@/home/ana/model.py:13' FROM turn
UNION ALL SELECT 7, 5 + 3 * i, 'aten::add', 'f32[8,64]', (4 + 3 * i) || ',2', 'forward@/home/ana/model.py:14' FROM turn;
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id) SELECT 1, id, id, 'value_access', 1 FROM graph;
