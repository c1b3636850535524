-- case just_fires_by_constant_change hundredths=20
-- case just_does_not_fire_by_constant_change hundredths=10
--
-- A training multiplies its weights by a Python number, which is baked into the graph. In some of
-- eight steps the number is another one than 0.10, and the graph is compiled again.
--
-- Figure under test: beside that of step 7, the factor of step 5 is another one: 0.{hundredths}.
-- Threshold: two recompilations of which the last is in the last quarter of the run are ongoing,
-- which is a warning. A single one is too little.

INSERT INTO run (id, label, selected, why) VALUES (1, '8 steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'graphs.txt', 'ir_dump', 1, 'executed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'train', '/home/ana/fit.py', 31);
-- The factor of each step, in hundredths. Whether step 5 has a new one is the figure under test.
CREATE TEMP TABLE factor AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 7)
SELECT i AS step, CASE i WHEN 5 THEN {hundredths} WHEN 7 THEN 30 ELSE 10 END AS hundredths FROM n;
-- Each factor makes a graph, in which it is a constant.
INSERT INTO graph (id, process_id, hash, node_count, printed_as)
SELECT DISTINCT hundredths, 1, printf('%x', hundredths), 3, 'ir_text' FROM factor;
INSERT INTO graph_node (graph_id, idx, op, shape, operands, attributes, location, root)
SELECT id, 0, 'prim::Constant', 'f32[]', '', 'value=0.' || id, 'train@fit.py:24', NULL FROM graph UNION ALL
SELECT id, 1, 'xla::device_data', 'f32[64]', '', NULL, 'convert@module.py:1357', NULL FROM graph UNION ALL
SELECT id, 2, 'aten::mul', 'f32[64]', '1,0', NULL, 'train@fit.py:24', 0 FROM graph;
INSERT INTO step (id, process_id, ordinal) SELECT step + 1, 1, step FROM factor;
-- A graph compiles when it comes for the first time, and each step executes its graph.
INSERT INTO compile (process_id, ordinal, graph_id, cause, site_id, step_id, inferred)
SELECT 1, 2 * min(step), hundredths, 'user_sync', 1, min(step) + 1, 1 FROM factor GROUP BY hundredths;
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id, step_id)
SELECT 1, 2 * step + 1, hundredths, 'user_sync', 1, step + 1 FROM factor;
