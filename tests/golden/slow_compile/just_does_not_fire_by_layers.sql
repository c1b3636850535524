-- torch_xla compiles the layers of a network as one graph.
--
-- Figure under test: each of the 16 layers multiplies with weights of its own, at line 13.
-- Threshold: turns of a loop mostly read the same inputs.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'pytorch_xla_debug.txt', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, file, line, function) VALUES (1, 'model.py', 35, 'train');
INSERT INTO graph (id, process_id, hash, name, printed_as, node_count) VALUES (1, 1, 'a', 'SyncTensorsGraph.51', 'hlo', 65);
WITH RECURSIVE layer(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM layer WHERE i < 15)
INSERT INTO graph_node (graph_id, idx, op, shape, operands)
SELECT 1, 0, 'parameter', 'f32[8,64]', ''
-- The inputs of the layers are the figure under test.
UNION ALL SELECT 1, 1 + i, 'parameter', 'f32[64,64]', '' FROM layer;
WITH RECURSIVE layer(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM layer WHERE i < 15)
INSERT INTO graph_node (graph_id, idx, op, shape, operands, location)
SELECT 1, 17 + 3 * i, 'dot', 'f32[8,64]', iif(i = 0, 0, 16 + 3 * i) || ',' || (1 + i), 'forward@model.py:13' FROM layer
UNION ALL SELECT 1, 18 + 3 * i, 'tanh', 'f32[8,64]', 17 + 3 * i, 'forward@model.py:13' FROM layer
UNION ALL SELECT 1, 19 + 3 * i, 'add', 'f32[8,64]', (18 + 3 * i) || ',' || (17 + 3 * i), 'forward@model.py:14' FROM layer;
INSERT INTO compile (process_id, ordinal, cause, graph_id, site_id, dur_ns, dur_from, inferred)
VALUES (1, 0, 'step_mark', 1, 1, 5 * 1000000000, 'log', 0);
