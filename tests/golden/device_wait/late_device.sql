-- case just_fires_by_late_device wait_us=990
-- case just_does_not_fire_by_late_device wait_us=1010
--
-- A training runs ten steps of 10 ms on two TPUs, which meet in an all-reduce. TPU:0 waits for 2 ms
-- in each step. If TPU:1 waits much less, it comes late, and the finding says so. In the
-- counterpart the finding stays, but names no late device.
--
-- Figure under test: TPU:1 waits for {wait_us} us of each step, and TPU:0 for 2,000 us.
-- Threshold: a device that waits for at most half as long as the one that waits longest is late.

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
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 3, 1000 * 10000 * i, 1000 * 2000, 'all-reduce.1', 'op' FROM n;
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES
  (4, 1, 'device_stream', 'XLA Modules', 'TPU:1', 3), (5, 1, 'device_stream', 'XLA Ops', 'TPU:1', 4);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 4, 1000 * 10000 * i, 1000 * 10000, 'jit_train', 'module' FROM n;
-- Its length on TPU:1 is the figure under test.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 5, 1000 * 10000 * i, 1000 * {wait_us}, 'all-reduce.1', 'op' FROM n;
