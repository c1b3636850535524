-- A server of parameters updates rows of a table. The table is donated, but its buffer is not usable,
-- so XLA copies it all the same.
--
-- Figure under test: the parameter is donated.
-- Threshold: advice to donate what is donated already is false.

INSERT INTO run (id, label, selected, why) VALUES (1, 'updates', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'XLA Modules', 'TPU:0', 1);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (3, 1, 'device_stream', 'XLA Ops', 'TPU:0', 2);
INSERT INTO site (id, function, file, line) VALUES (1, 'main', '/home/user/train.py', 12);
-- The program updates rows of a table and returns it.
INSERT INTO graph (id, process_id, name, program_id, printed_as) VALUES (1, 1, 'jit_update', 7, 'hlo_optimized');
INSERT INTO graph_node (graph_id, idx, op, shape, operands, attributes, root, name) VALUES
(1, 0, 'parameter', 'f32[4000,64]{1,0}', '', 'parameter=0, donated=none, argument="table"', NULL, 'table.1'),
(1, 1, 'parameter', 's32[8]{0}', '', 'parameter=1, argument="rows"', NULL, 'rows.1'),
(1, 2, 'copy', 'f32[4000,64]{1,0}', '0', NULL, NULL, 'copy.3'),
(1, 3, 'fusion', 'f32[4000,64]{1,0}', '2,1', 'kind=kLoop', 0, 'scatter_fusion');
INSERT INTO compile (process_id, ordinal, graph_id, cause, function, site_id, inferred) VALUES (1, 0, 1, 'call', 'update', 1, 0);
-- 10 executions of 1,000 us. Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 10)
INSERT INTO execution (process_id, ordinal, graph_id, ts_ns, dur_ns, device, cause)
SELECT 1, i + 1, 1, 1000 * 1000 * i, 1000 * 1000, 'TPU:0', 'call' FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 10)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 2, 1000 * 1000 * i, 1000 * 1000, 'jit_update', 'module' FROM n;
-- The copies: their length is 300 us.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 10)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 3, 1000 * 1000 * i, 1000 * 300, '%copy.3 = f32[4000,64] copy(f32[4000,64] %table.1)', 'op' FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 10)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 3, 1000 * (1000 * i + 300), 1000 * (1000 - 300), '%scatter_fusion = f32[4000,64] fusion(f32[4000,64] %copy.3)', 'op' FROM n;
