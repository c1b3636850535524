-- case just_fires_by_uploads_of_line uploads=30 elements=25000
-- case just_does_not_fire_by_uploads_of_line uploads=29 elements=25000
-- case just_fires_by_size_of_input uploads=40 elements=25500
-- case just_does_not_fire_by_size_of_input uploads=40 elements=25501
--
-- A training runs ten steps of 100 ms on a TPU. Nothing is recorded on the host while the device is idle,
-- in the last 10 ms of each step, but an upload. The graph of the steps has four inputs from one line.
--
-- Figure under test: {uploads} tensors of 100,000 bytes are uploaded in ten steps, and each input has {elements}
-- elements of 4 bytes.
-- Threshold: uploads are those of a line's inputs if their number differs by at most a quarter, and their
-- size by at most 2 %.

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
SELECT 1, ts_ns, 1000, 'train', 'host' FROM step UNION ALL
SELECT 1, ts_ns + 1000 * 98000, 1000 * 10, 'TransferToDevice', 'transfer' FROM step UNION ALL
SELECT 2, ts_ns, 1000 * 90000, 'jit_train', 'module' FROM step;
INSERT INTO transfer (process_id, ordinal, direction, bytes, ts_ns, dur_ns, device, step_id, track_id)
SELECT 1, id, 'to_device', 100000, ts_ns + 1000 * 98000, 1000 * 10, 'TPU:0', id, 1 FROM step;
INSERT INTO source (id, path, format, imported, kind) VALUES (2, 'report.txt', 'metrics_report', 1, 'reports'), (3, 'graphs.txt', 'ir_dump', 1, 'executed');
INSERT INTO graph (id, process_id, hash, node_count, printed_as) VALUES (1, 1, 'aa', 5, 'ir_text');
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 3)
INSERT INTO graph_node (graph_id, idx, op, shape, operands, location, root)
SELECT 1, i, 'xla::device_data', 'f32[{elements}]', '', 'load@/home/user/train.py:20', NULL FROM n UNION ALL
SELECT 1, 4, 'aten::add', 'f32[{elements}]', '0,1', 'main@/home/user/train.py:31', 0;
INSERT INTO execution (process_id, ordinal, graph_id, cause, step_id) SELECT 1, id, 1, 'user_sync', id FROM step;
-- A report of the metrics has the number and the sizes.
INSERT INTO metrics_report (id, source_id, process_id, ordinal, mark_step) VALUES (1, 2, 1, 0, 10);
INSERT INTO counter (report_id, name, value) VALUES (1, 'MarkStep', 10);
INSERT INTO metric (id, report_id, name, unit, samples, accumulator, text) VALUES (1, 1, 'OutboundData', 'bytes', {uploads}, {uploads} * 100000, '');
INSERT INTO metric_percentile (metric_id, p, value) VALUES (1, 50, 100000), (1, 99, 100000);
