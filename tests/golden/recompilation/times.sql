-- case just_fires_by_dear_start steps=32 others=(2,32),(3,48),(4,64),(5,80),(6,96),(7,112) compile_us=54000
-- case just_does_not_fire_by_dear_start steps=32 others=(2,32),(3,48),(4,64),(5,80),(6,96),(7,112) compile_us=53000
-- case just_fires_by_most_of_the_time steps=8 others=(0,16),(1,32),(2,48),(3,64),(4,80),(5,96),(6,112) compile_us=58000
-- case just_does_not_fire_by_most_of_the_time steps=8 others=(0,16),(1,32),(2,48),(3,64),(4,80),(5,96),(6,112) compile_us=57000
-- case just_fires_by_noticeable_share steps=40 others=(5,96),(30,64),(38,32) compile_us=4100
-- case just_does_not_fire_by_noticeable_share steps=40 others=(5,96),(30,64),(38,32) compile_us=3900
-- case just_fires_by_eighth_size steps=400 others=(1,8),(2,16),(3,24),(4,32),(5,40),(6,48),(7,56),(8,64) compile_us=900000
-- case just_does_not_fire_by_eighth_size steps=400 others=(1,8),(2,16),(3,24),(4,32),(5,40),(6,48),(7,56) compile_us=900000
--
-- A language model trains on batches of 128 tokens. In some of {steps} steps of 100 ms, which a profile
-- shows, the batch has another length, for which a new graph is compiled.
--
-- Figure under test: the steps with other lengths, {others},
-- compile for {compile_us} us each.
-- Threshold: what has stopped in the first quarter of the run is a warning only if it took 10 % of the
-- time, and not if it is a few sizes, fewer than 8, in the first 5 % of the steps. Recompilation that
-- goes on is an error if it takes more than half of the time. What is not in every step is not a warning
-- below 0.1 %.

INSERT INTO run (id, label, selected, why) VALUES (1, '{steps} steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO site (id, function, file, line) VALUES (1, 'train', '/home/ana/fit.py', 31);
-- The sequence length of each step's batch.
CREATE TEMP TABLE batch AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {steps})
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
-- A graph compiles when it comes for the first time. How long that takes is the figure under test.
INSERT INTO compile (process_id, ordinal, graph_id, cause, site_id, step_id, inferred, ts_ns, dur_ns, dur_from)
SELECT 1, 2 * min(step), length, 'user_sync', 1, min(step) + 1, 0, 1000 * 100000 * min(step), 1000 * {compile_us}, 'profile' FROM batch GROUP BY length;
