-- case just_fires_by_small_executions steps=125 executions=8 execution_us=99
-- case just_does_not_fire_by_small_executions steps=125 executions=8 execution_us=101
-- case just_does_not_fire_by_number_of_executions steps=124 executions=8 execution_us=99
-- case just_does_not_fire_by_executions_in_a_step steps=150 executions=7 execution_us=99
--
-- A program runs {steps} steps on a TPU, which consist of small executions. The host asks for each of them,
-- every 300 us, so the device waits for the host in between.
--
-- Figure under test: {executions} executions in each of {steps} steps, which take {execution_us} us each.
-- Threshold: executions of less than 100 us on average are small. From 1,000 of them on, and 8 in each
-- step, the idle time between them is a finding.

INSERT INTO run (id, label, selected, why) VALUES (1, 'small executions', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'XLA Modules', 'TPU:0', 1);
-- Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {steps})
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 300 * {executions} * i, 1000 * 300 * {executions} FROM n;
INSERT INTO event (track_id, ts_ns, dur_ns, name, category) SELECT 1, ts_ns, dur_ns, 'train', 'step' FROM step;
CREATE TEMP TABLE small AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {executions})
SELECT id, i, ts_ns + 1000 * 300 * i AS ns FROM step, n;
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, ns, 1000 * 200, 'ExecuteComputation', 'execute' FROM small UNION ALL
SELECT 2, ns + 1000 * 200, 1000 * {execution_us}, 'jit_add', 'module' FROM small;
INSERT INTO execution (process_id, ordinal, cause, ts_ns, dur_ns, device, step_id)
SELECT 1, 100 * id + i, 'call', ns + 1000 * 200, 1000 * {execution_us}, 'TPU:0', id FROM small;
