-- case just_fires_by_rounds inputs=8
-- case just_does_not_fire_by_rounds inputs=7
--
-- A debug log shows reads of a sum, and executions that nothing assigns to a step.
--
-- Figure under test: the graph of the read has {inputs} inputs of one shape from one line.
-- Threshold: eight may be the rounds of a loop without a step mark. Fewer may be the layers of a model.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.log', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'train', '/home/ana/fit.py', 31);
INSERT INTO graph (id, process_id, hash, node_count, printed_as) VALUES (1, 1, 'aa', {inputs} + 1, 'ir_text');
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {inputs})
INSERT INTO graph_node (graph_id, idx, op, shape, operands, location, root)
SELECT 1, i, 'xla::device_data', 'f32[32]', '', 'load@/home/ana/fit.py:20', NULL FROM n UNION ALL
SELECT 1, {inputs}, 'aten::sum', 'f32[]', '0', 'train@/home/ana/fit.py:31', 0;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4)
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id) SELECT 1, i, 1, 'value_access', 1 FROM n;
