-- case just_fires steps=8 others=(5,96),(7,64)
-- case just_does_not_fire steps=8 others=(7,64)
-- case just_fires_by_last_quarter steps=8 others=(4,96),(6,64)
-- case just_does_not_fire_by_last_quarter steps=8 others=(4,96),(5,64)
-- case just_fires_by_burst steps=20 others=(3,96),(4,64),(5,32)
-- case just_does_not_fire_by_burst steps=20 others=(3,96),(4,64)
-- case just_fires_by_early steps=40 others=(3,96),(5,64),(10,32)
-- case just_does_not_fire_by_early steps=40 others=(3,96),(5,64),(9,32)
-- case just_fires_by_settled steps=20 others=(3,96),(9,64),(12,32)
-- case just_does_not_fire_by_settled steps=20 others=(3,96),(9,64)
-- case just_fires_by_length_of_burst steps=20 others=(3,96),(5,64),(7,32)
-- case just_does_not_fire_by_length_of_burst steps=20 others=(3,96),(5,64),(8,32)
-- case just_fires_by_part_of_run steps=140 others=(3,96),(6,64),(9,32)
-- case just_does_not_fire_by_part_of_run steps=140 others=(3,96),(6,64),(10,32)
-- case just_fires_by_clean_steps steps=9 others=(3,96),(4,64),(5,32)
-- case just_does_not_fire_by_clean_steps steps=8 others=(3,96),(4,64),(5,32)
--
-- A language model trains on batches of 128 tokens. In some of {steps} steps the batch has another
-- length, for which a new graph is compiled.
--
-- Figure under test: the steps that have another length, and the lengths: {others}.
-- Threshold: two recompilations of which the last is in the last quarter of the run are ongoing, which
-- is a warning, if the other one is in its second half. A single one is too little, and earlier ones
-- have settled. Three within five steps, or within a twentieth of the run, are a burst, which is a
-- warning, if three clean steps follow. Three that have stopped are a warning, if they went on for a
-- quarter of the run, but what has stopped before is part of the start. The first three steps do not
-- count.

INSERT INTO run (id, label, selected, why) VALUES (1, '{steps} steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'graphs.txt', 'ir_dump', 1, 'executed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
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
INSERT INTO step (id, process_id, ordinal) SELECT step + 1, 1, step FROM batch;
-- A graph compiles when it comes for the first time, and each step executes its graph.
INSERT INTO compile (process_id, ordinal, graph_id, cause, site_id, step_id, inferred)
SELECT 1, 2 * min(step), length, 'user_sync', 1, min(step) + 1, 1 FROM batch GROUP BY length;
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id, step_id)
SELECT 1, 2 * step + 1, length, 'user_sync', 1, step + 1 FROM batch;
