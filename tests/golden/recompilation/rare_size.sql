-- case just_fires_by_rare_size others=(5,96),(6,96),(7,96),(8,96),(9,96)
-- case just_does_not_fire_by_rare_size others=(5,96),(6,96),(7,96),(8,96)
--
-- A language model trains on batches of 128 tokens, in 20 steps of 100 ms. Some batches are smaller, for
-- which one graph is compiled for 300 ms, so that it takes 15 % of the time.
--
-- Figure under test: the steps with smaller batches, {others}.
-- Threshold: a smaller size that a fifth of the executions have, or fewer, is rare, like the last batch
-- of an epoch, and not a warning, however long it compiles.

INSERT INTO run (id, label, selected, why) VALUES (1, '20 steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO site (id, function, file, line) VALUES (1, 'train', '/home/ana/fit.py', 31);
-- The sequence length of each step's batch.
CREATE TEMP TABLE batch AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 20)
SELECT i AS step, coalesce((SELECT column2 FROM (VALUES {others}) WHERE column1 = i), 128) AS length FROM n;
-- Each length makes a graph: an input of that length, and the embedding of its tokens.
INSERT INTO graph (id, process_id, hash, node_count, printed_as)
SELECT DISTINCT length, 1, printf('%x', length), 3, 'ir_text' FROM batch;
INSERT INTO graph_node (graph_id, idx, op, shape, operands, location, root)
SELECT id, 0, 'xla::device_data', 's64[8,' || id || ']', '', 'train@fit.py:24', NULL FROM graph UNION ALL
SELECT id, 1, 'xla::device_data', 'f32[900,64]', '', 'convert@module.py:1357', NULL FROM graph UNION ALL
SELECT id, 2, 'aten::embedding', 'f32[8,' || id || ',64]', '1,0', 'forward@sparse.py:190', 0 FROM graph;
-- Times are written as 1000 * microseconds.
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT step + 1, 1, step, step, 'train', 1000 * 100000 * step, 1000 * 100000 FROM batch;
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * 100000 * step, 1000 * 100000, 'train', 'step' FROM batch;
-- A graph compiles when it comes for the first time.
INSERT INTO compile (process_id, ordinal, graph_id, cause, site_id, step_id, inferred, ts_ns, dur_ns, dur_from)
SELECT 1, 2 * min(step), length, 'user_sync', 1, min(step) + 1, 0, 1000 * 100000 * min(step), 1000 * 300000, 'profile' FROM batch GROUP BY length;
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id, step_id)
SELECT 1, 2 * step + 1, length, 'user_sync', 1, step + 1 FROM batch;
