-- case just_fires_by_recompiles preceded=4
-- case just_does_not_fire_by_recompiles preceded=3
--
-- A log of 20 steps, in which the length of an input changes from step to step five times. Before some of
-- these compiles, aten::masked_select runs on the CPU in the same step.
--
-- Figure under test: the op runs before {preceded} of the five recompiles.
-- Threshold: the op explains recompiles if it ran before 80 % of them.

INSERT INTO run (id, label, selected, why) VALUES (1, '20 steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.log', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'train', '/home/ana/fit.py', 31);
CREATE TEMP TABLE batch AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19)
SELECT i AS step, iif(i IN (5, 8, 11, 15, 18), 10 * i, 128) AS length FROM n;
INSERT INTO graph (id, process_id, hash, node_count, printed_as) SELECT DISTINCT length, 1, printf('%x', length), 2, 'ir_text' FROM batch;
INSERT INTO graph_node (graph_id, idx, op, shape, operands, location, root)
SELECT id, 0, 'xla::device_data', 'f32[8,' || id || ']', '', 'train@fit.py:24', NULL FROM graph UNION ALL
SELECT id, 1, 'aten::sum', 'f32[]', '0', 'train@fit.py:26', 0 FROM graph;
INSERT INTO step (id, process_id, ordinal) SELECT step + 1, 1, step FROM batch;
INSERT INTO compile (process_id, ordinal, graph_id, cause, site_id, step_id, inferred)
SELECT 1, 10 * min(step) + 5, length, 'user_sync', 1, min(step) + 1, 0 FROM batch GROUP BY length;
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id, step_id) SELECT 1, 10 * step + 6, length, 'user_sync', 1, step + 1 FROM batch;
-- The calls of the op.
INSERT INTO fallback (process_id, op, count, ordinal, step_id)
SELECT 1, 'aten::masked_select', 1, 10 * step + 1, step + 1 FROM batch WHERE length <> 128 LIMIT {preceded};
