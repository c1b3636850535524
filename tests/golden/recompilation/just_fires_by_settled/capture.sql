-- A language model trains on batches of 128 tokens. In some steps the batch has another length, for
-- which a new graph is compiled. The dump shows 20 steps. In its second half no new length comes.
--
-- Figure under test: 3 recompilations, which have stopped: step 12 has 32 tokens.
-- Threshold: three recompilations that have stopped are a warning, if they went on for a quarter of
-- the run. Two are not a pattern.

INSERT INTO run (id, label, selected, why) VALUES (1, '20 steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'graphs.txt', 'ir_dump', 1, 'executed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'train', '/home/ana/fit.py', 31);
-- The sequence length of each step's batch. Whether step 12 has a new length is the figure under test.
CREATE TEMP TABLE batch AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19)
SELECT i AS step, CASE i WHEN 3 THEN 96 WHEN 9 THEN 64 WHEN 12 THEN 32 ELSE 128 END AS length FROM n;
-- Each length makes a graph: an input of that length, and the embedding of its tokens.
INSERT INTO graph (id, process_id, hash, node_count, printed_as)
SELECT DISTINCT length, 1, printf('%x', length), 3, 'ir_text' FROM batch;
INSERT INTO graph_node (graph_id, idx, op, shape, operands, location, root)
SELECT id, 0, 'xla::device_data', 's64[8,' || id || ']', '', 'train@fit.py:24', NULL FROM graph UNION ALL
SELECT id, 1, 'xla::device_data', 'f32[900,64]', '', 'convert@module.py:1357', NULL FROM graph UNION ALL
SELECT id, 2, 'aten::embedding', 'f32[8,' || id || ',64]', '1,0', 'forward@sparse.py:190', 0 FROM graph;
INSERT INTO step (id, process_id, ordinal) SELECT step + 1, 1, step FROM batch;
-- A graph compiles when it comes for the first time, and each step executes its graph.
INSERT INTO compile (process_id, ordinal, graph_id, cause, site_id, step_id, inferred)
SELECT 1, 2 * min(step), length, 'user_sync', 1, min(step) + 1, 1 FROM batch GROUP BY length;
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id, step_id)
SELECT 1, 2 * step + 1, length, 'user_sync', 1, step + 1 FROM batch;
