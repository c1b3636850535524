-- case just_fires_by_count_without_steps reads=3
-- case just_does_not_fire_by_count_without_steps reads=2
--
-- A debug log shows reads of the loss, and executions that nothing assigns to a step.
--
-- Figure under test: {reads} reads.
-- Threshold: where no step is known, three reads are a warning.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.log', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'train', '/home/ana/fit.py', 31), (2, 'train', '/home/ana/fit.py', 52);
INSERT INTO graph (id, process_id, hash, node_count, printed_as) VALUES (1, 1, 'aa', 2, 'ir_text'), (2, 1, 'bb', 1, 'ir_text');
INSERT INTO graph_node (graph_id, idx, op, shape, operands, root) VALUES
  (1, 0, 'xla::device_data', 'f32[32]', '', NULL), (1, 1, 'aten::mean', 'f32[]', '0', 0), (2, 0, 'xla::device_data', 'f32[32]', '', 0);
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id) VALUES (1, 0, 2, 'user_sync', 2);
-- The number of reads is the figure under test.
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id) SELECT 1, i, 1, 'value_access', 1 FROM n LIMIT {reads};
