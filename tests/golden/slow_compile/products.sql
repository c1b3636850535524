-- case just_fires_by_products products=24
-- case just_does_not_fire_by_products products=23
--
-- torch_xla compiles a graph, most of whose operations are at lines of their own.
--
-- Figure under test: {products} multiplications at line 13 use three weights in turn. Compiling takes 5 s.
-- Threshold: multiplications are turns of a loop if they are eight times the inputs of their weights' shape.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'pytorch_xla_debug.txt', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, file, line, function) VALUES (1, 'denoise.py', 35, 'sample');
INSERT INTO graph (id, process_id, hash, name, printed_as, node_count) VALUES (1, 1, 'a', 'SyncTensorsGraph.51', 'hlo', 44 + {products});
INSERT INTO graph_node (graph_id, idx, op, shape, operands) VALUES (1, 0, 'parameter', 'f32[8,64]', ''),
  (1, 1, 'parameter', 'f32[64,64]', ''), (1, 2, 'parameter', 'f32[64,64]', ''), (1, 3, 'parameter', 'f32[64,64]', '');
-- The operations at lines of their own, and the multiplications, whose number is the figure under test.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39)
INSERT INTO graph_node (graph_id, idx, op, shape, operands, location)
SELECT 1, 4 + i, 'tanh', 'f32[8,64]', iif(i = 0, 0, 3 + i), 'prepare@denoise.py:' || (40 + i) FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {products})
INSERT INTO graph_node (graph_id, idx, op, shape, operands, location)
SELECT 1, 44 + i, 'dot', 'f32[8,64]', (43 + i) || ',' || (1 + i % 3), 'forward@denoise.py:13' FROM n;
INSERT INTO compile (process_id, ordinal, cause, graph_id, site_id, dur_ns, dur_from, inferred)
VALUES (1, 0, 'step_mark', 1, 1, 5000000000, 'log', 0);
