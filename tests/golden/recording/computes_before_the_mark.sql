-- A training of 40 steps of our lazy runtime computes its weights with unlazy() in every tenth step,
-- before the step mark. They are inputs of the step mark's graph from then on, at the line of
-- unlazy(). Nothing was sent to the device there, so no op without lowering returned them.

INSERT INTO run (id, label, selected, why) VALUES (1, '40 steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'run.xlaprof', 'recording', 1, 'recording');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'Train', '/home/ana/train.cc', 31), (2, 'Train', '/home/ana/train.cc', 52), (3, 'Init', '/home/ana/train.cc', 8);
INSERT INTO graph (id, process_id, hash, node_count, printed_as) VALUES (1, 1, 'aa', 2, 'ir_text'), (2, 1, 'bb', 1, 'ir_text');
INSERT INTO graph_node (graph_id, idx, op, shape, operands, root, location) VALUES
  (1, 0, 'xla::device_data', 'f32[8,8]', '', NULL, 'Init@/home/ana/train.cc:8'),
  (1, 1, 'aten::sub', 'f32[8,8]', '0', 0, 'Train@/home/ana/train.cc:28'),
  (2, 0, 'xla::device_data', 'f32[8,8]', '', 0, 'Train@/home/ana/train.cc:31');
INSERT INTO transfer (process_id, ordinal, direction, bytes, ts_ns, dur_ns, site_id) VALUES
  (1, 0, 'to_device', 256, 0, 1000, 3), (1, 1, 'to_device', 4, 2000, 1000, 1), (1, 2, 'from_device', 256, 4000, 1000, 1);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39)
INSERT INTO step (id, process_id, ordinal) SELECT i + 1, 1, 3 + i FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 3)
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id, step_id, scope)
SELECT 1, 20 * i + 3, 1, 'value_access', 1, 10 * i + 1, NULL FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39)
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id, step_id)
SELECT 1, 2 * i + 4, 2, 'user_sync', 2, i + 1 FROM n;
