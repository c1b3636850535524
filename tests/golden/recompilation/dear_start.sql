-- case just_fires_by_dear_start compile_us=54000
-- case just_does_not_fire_by_dear_start compile_us=53000
--
-- A language model trains on batches of 128 tokens. In some steps the batch has another length, for
-- which a new graph is compiled. The profile shows 32 steps of 100 ms. Steps 2 to 7 each bring a
-- new length, and later steps bring none.
--
-- Figure under test: six recompilations of {compile_us} us each, in 3,200,000 us.
-- Threshold: what has stopped in the first quarter of the run is a warning only if it took 10 % of
-- the time.

INSERT INTO run (id, label, selected, why) VALUES (1, '32 steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO site (id, function, file, line) VALUES (1, 'train', '/home/ana/fit.py', 31);
-- The sequence length of each step's batch.
CREATE TEMP TABLE batch AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 31)
SELECT i AS step, iif(i BETWEEN 2 AND 7, 16 * i, 128) AS length FROM n;
-- Each length makes a graph: an input of that length, and the embedding of its tokens.
INSERT INTO graph (id, process_id, hash, node_count, printed_as)
SELECT DISTINCT length, 1, printf('%x', length), 3, 'ir_text' FROM batch;
INSERT INTO graph_node (graph_id, idx, op, shape, operands, location, root)
SELECT id, 0, 'xla::device_data', 's64[8,' || id || ']', '', 'train@fit.py:24', NULL FROM graph UNION ALL
SELECT id, 1, 'xla::device_data', 'f32[900,64]', '', 'convert@module.py:1357', NULL FROM graph UNION ALL
SELECT id, 2, 'aten::embedding', 'f32[8,' || id || ',64]', '1,0', 'forward@sparse.py:190', 0 FROM graph;
-- 32 steps of 100 ms. Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 31)
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 100000 * i, 1000 * 100000 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 31)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * 100000 * i, 1000 * 100000, 'train', 'step' FROM n;
-- A graph compiles when it comes for the first time. How long that takes is the figure under test.
INSERT INTO compile (process_id, ordinal, graph_id, cause, site_id, step_id, inferred, ts_ns, dur_ns, dur_from)
SELECT 1, 2 * min(step), length, 'user_sync', 1, min(step) + 1, 0, 1000 * 100000 * min(step), 1000 * {compile_us}, 'profile' FROM batch GROUP BY length;
