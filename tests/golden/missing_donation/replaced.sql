-- case just_fires_by_replaced rows=262144 rows_of_batch=64
-- case just_does_not_fire_by_replaced rows=262143 rows_of_batch=64
-- case just_does_not_fire_by_share rows=262144 rows_of_batch=262145
--
-- A step of training replaces its weights. Its caller does not donate them.
--
-- Figure under test: the weights have {rows} rows of 128 numbers of 4 bytes, and the batch has
-- {rows_of_batch}.
-- Threshold: inputs that a program replaces are information from 134 MB (262,144 rows) and half of the
-- bytes of all inputs on.

INSERT INTO run (id, label, selected, why) VALUES (1, 'updates', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'XLA Modules', 'TPU:0', 1);
INSERT INTO site (id, function, file, line) VALUES (1, 'main', '/home/user/train.py', 12);
-- One fusion computes the new weights from the old ones.
INSERT INTO graph (id, process_id, name, program_id, printed_as) VALUES (1, 1, 'jit_step', 7, 'hlo_optimized');
INSERT INTO graph_node (graph_id, idx, op, shape, operands, attributes, root, name, computation) VALUES
(1, 0, 'parameter', 'f32[{rows},128]{1,0}', '', 'parameter=0', NULL, 'p.1', 'fused'),
(1, 1, 'negate', 'f32[{rows},128]{1,0}', '0', NULL, 0, 'negate.1', 'fused'),
(1, 2, 'parameter', 'f32[{rows},128]{1,0}', '', 'parameter=0, argument="weights"', NULL, 'weights.1', NULL),
(1, 3, 'parameter', 'f32[{rows_of_batch},128]{1,0}', '', 'parameter=1, argument="batch"', NULL, 'batch.1', NULL),
(1, 4, 'fusion', 'f32[{rows},128]{1,0}', '2', 'kind=kLoop, calls=0', 0, 'fusion.1', NULL);
INSERT INTO compile (process_id, ordinal, graph_id, cause, function, site_id, inferred) VALUES (1, 0, 1, 'call', 'step', 1, 0);
-- 10 executions of 1,000 us. Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 10)
INSERT INTO execution (process_id, ordinal, graph_id, ts_ns, dur_ns, device, cause)
SELECT 1, i + 1, 1, 1000 * 1000 * i, 1000 * 1000, 'TPU:0', 'call' FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 10)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 2, 1000 * 1000 * i, 1000 * 1000, 'jit_step', 'module' FROM n;
