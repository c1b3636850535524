-- case just_fires tracing_us=95100 busy_us=100000
-- case just_does_not_fire tracing_us=94900 busy_us=100000
-- case just_fires_by_least_share tracing_us=5100 busy_us=1000
-- case just_does_not_fire_by_least_share tracing_us=4900 busy_us=1000
--
-- A training runs ten steps of 100 ms on a TPU. In each step the host records all operations of its
-- graph again. If the device waits for it, a device_gap is reported as well.
--
-- Figure under test: tracing takes {tracing_us} us of a step's 100,000 us, and the device is busy for {busy_us}
-- us.
-- Threshold: a program is bound by tracing if that takes 95 % of the step. Tracing that takes longer
-- than the device is busy counts from 5 % of the step on.

INSERT INTO run (id, label, selected, why) VALUES (1, 'steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
-- The profile holds the program that the steps execute.
INSERT INTO graph (process_id, printed_as) VALUES (1, 'hlo');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'XLA Modules', 'TPU:0', 1);
-- 10 steps of 100 ms. Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 100000 * i, 1000 * 100000 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * 100000 * i, 1000 * 100000, 'train', 'step' FROM n;
-- In each step the host records the graph's operations. How long that takes is the figure under test.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * 100000 * i, 1000 * {tracing_us}, 'LazyTracing', 'tracing' FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 2, 1000 * 100000 * i, 1000 * {busy_us}, 'jit_train', 'module' FROM n;
