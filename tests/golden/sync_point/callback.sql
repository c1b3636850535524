-- case just_fires_by_callback callback_us=51
-- case just_does_not_fire_by_callback callback_us=49
--
-- A program calls Python from the device in each of its ten executions of 1 ms.
--
-- Figure under test: the callback takes {callback_us} us of 1,000 us.
-- Threshold: callbacks are a finding if they take 5 % of the device's busy time.

INSERT INTO run (id, label, selected, why) VALUES (1, 'ten executions', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (1, 1, 'device_stream', 'XLA Modules', 'TPU:0', 0), (2, 1, 'device_stream', 'XLA Ops', 'TPU:0', 1);
INSERT INTO graph (id, process_id, name, program_id, printed_as) VALUES (1, 1, 'jit_step', 7, 'hlo_optimized');
INSERT INTO graph_node (graph_id, idx, op, shape, operands, attributes, location, root, name) VALUES
  (1, 0, 'parameter', 'f32[8]{0}', '', 'parameter=0', NULL, NULL, 'x.1'),
  (1, 1, 'custom-call', 'f32[8]{0}', '0', 'custom_call_target="xla_python_cpu_callback"', 'step@/home/user/train.py:9', 0, 'debug_callback.1');
-- Times are written as 1000 * microseconds.
CREATE TEMP TABLE run_of AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT 1000 * 1000 * i AS ns, i FROM n;
INSERT INTO execution (process_id, ordinal, graph_id, cause, ts_ns, dur_ns, device) SELECT 1, i, 1, 'call', ns, 1000 * 1000, 'TPU:0' FROM run_of;
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, ns, 1000 * 1000, 'jit_step', 'module' FROM run_of UNION ALL
SELECT 2, ns, 1000 * (1000 - {callback_us}), 'dot.1', 'op' FROM run_of UNION ALL
SELECT 2, ns + 1000 * (1000 - {callback_us}), 1000 * {callback_us}, 'debug_callback.1', 'op' FROM run_of;
