-- case just_fires wait_us=1010
-- case just_does_not_fire wait_us=990
-- case just_fires_by_mention wait_us=510
-- case just_does_not_fire_by_mention wait_us=490
-- case just_fires_by_top_op wait_us=210
-- case just_does_not_fire_by_top_op wait_us=190
--
-- A training runs ten steps of 10 ms on a TPU, which is busy all the time. In each step it waits in
-- an all-reduce for the other devices.
--
-- Figure under test: the all-reduce takes {wait_us} us of 10,000 us in each step.
-- Threshold: waiting is mentioned from 5 % of the device's busy time on, and is a warning from 10 % on.
-- An op is listed by name from 2 % on.

INSERT INTO run (id, label, selected, why) VALUES (1, 'ten steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'XLA Modules', 'TPU:0', 1);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (3, 1, 'device_stream', 'XLA Ops', 'TPU:0', 2);
-- 10 steps of 10 ms. Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 10000 * i, 1000 * 10000 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * 10000 * i, 1000 * 10000, 'train', 'step' FROM n;
-- The TPU is busy all the time.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 2, 1000 * 10000 * i, 1000 * 10000, 'jit_train', 'module' FROM n;
-- The waiting ops: their length is the figure under test.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 3, 1000 * 10000 * i, 1000 * {wait_us}, 'all-reduce.1', 'op' FROM n;
