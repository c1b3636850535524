-- case just_fires_by_loop compile_s=5 turns=16 lacks=0
-- case just_does_not_fire_by_loop compile_s=4.9 turns=16 lacks=0
-- case just_fires_by_lack compile_s=5 turns=32 lacks=2
-- case just_does_not_fire_by_lack compile_s=5 turns=45 lacks=3
--
-- torch_xla compiles all turns of a denoising loop as one graph.
--
-- Figure under test: each of the {turns} turns multiplies with the same weights and adds, at line 13. The last
-- {lacks} negate instead. Compiling them takes {compile_s} s.
-- Threshold: a loop has 16 turns, and compiling it takes 5 s. One of 16 turns may lack an operation, which
-- is not one of the loop otherwise.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'pytorch_xla_debug.txt', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, file, line, function) VALUES (1, 'denoise.py', 35, 'sample');
INSERT INTO graph (id, process_id, hash, name, printed_as, node_count) VALUES (1, 1, 'a', 'SyncTensorsGraph.51', 'hlo', 3 + 3 * {turns});
INSERT INTO graph_node (graph_id, idx, op, shape, operands) VALUES
  (1, 0, 'parameter', 'f32[8,64]', ''), (1, 1, 'parameter', 'f32[64,64]', ''), (1, 2, 'parameter', 'f32[8,64]', '');
-- The number of turns is the figure under test.
WITH RECURSIVE turn(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM turn WHERE i + 1 < {turns})
INSERT INTO graph_node (graph_id, idx, op, shape, operands, location)
SELECT 1, 3 + 3 * i, 'dot', 'f32[8,64]', iif(i = 0, 0, 2 + 3 * i) || ',1', 'forward@denoise.py:13' FROM turn
UNION ALL SELECT 1, 4 + 3 * i, 'tanh', 'f32[8,64]', 3 + 3 * i, 'forward@denoise.py:13' FROM turn
UNION ALL SELECT 1, 5 + 3 * i, iif(i < {turns} - {lacks}, 'add', 'negate'), 'f32[8,64]', (4 + 3 * i) || ',2', 'forward@denoise.py:14' FROM turn;
INSERT INTO compile (process_id, ordinal, cause, graph_id, site_id, dur_ns, dur_from, inferred)
VALUES (1, 0, 'step_mark', 1, 1, {compile_s} * 1000000000, 'log', 0);
