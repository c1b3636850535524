-- case just_fires_by_fewest_inputs inputs=20
-- case just_does_not_fire_by_fewest_inputs inputs=19
-- case just_fires_by_most_inputs inputs=50
-- case just_does_not_fire_by_most_inputs inputs=51
--
-- A training runs ten steps of 100 ms on a TPU. At the end of each step, a loop makes 40 small tensors and
-- uploads them, each in 10 us, while the device is idle.
--
-- Figure under test: {inputs} inputs of the step's graph come from one line.
-- Threshold: they are the tensors that are uploaded one by one if they are at least half and at most five
-- quarters of these.

INSERT INTO run (id, label, selected, why) VALUES (1, 'ten steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'XLA Modules', 'TPU:0', 1);
-- Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 100000 * i, 1000 * 100000 FROM n;
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, ts_ns, dur_ns, 'train', 'step' FROM step UNION ALL
SELECT 2, ts_ns, 1000 * 50000, 'jit_train', 'module' FROM step;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39)
INSERT INTO transfer (process_id, ordinal, direction, bytes, ts_ns, dur_ns, device, step_id, track_id)
SELECT 1, 100 * id + i, 'to_device', 16, ts_ns + 1000 * (50000 + 500 * i), 1000 * 10, 'TPU:0', id, 1 FROM step, n;
INSERT INTO source (id, path, format, imported, kind) VALUES (2, 'graphs.txt', 'ir_dump', 1, 'executed');
INSERT INTO graph (id, process_id, hash, node_count, printed_as) VALUES (1, 1, 'aa', {inputs} + 1, 'ir_text');
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {inputs})
INSERT INTO graph_node (graph_id, idx, op, shape, operands, location, root)
SELECT 1, i, 'xla::device_data', 'f32[4]', '', 'load@/home/user/train.py:20', NULL FROM n UNION ALL
SELECT 1, {inputs}, 'aten::add', 'f32[4]', '0,1', 'main@/home/user/train.py:31', 0;
INSERT INTO execution (process_id, ordinal, graph_id, cause, step_id) SELECT 1, id, 1, 'user_sync', id FROM step;
