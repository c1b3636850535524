-- case just_fires_by_short_copies copy_us=101
-- case just_does_not_fire_by_short_copies copy_us=99
--
-- A training runs ten steps of 1 ms on a TPU. At the end of each step it copies a result of unknown size
-- to the host, while the device is idle.
--
-- Figure under test: each copy takes {copy_us} us of a step's 1,000 us.
-- Threshold: copies of unknown size that take less than 100 us may be of single numbers, and are only
-- mentioned.

INSERT INTO run (id, label, selected, why) VALUES (1, 'ten steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'XLA Modules', 'TPU:0', 1);
-- 10 steps of 1 ms. Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 1000 * i, 1000 * 1000 FROM n;
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, ts_ns, dur_ns, 'train', 'step' FROM step UNION ALL
SELECT 2, ts_ns, 1000 * 880, 'jit_train', 'module' FROM step UNION ALL
SELECT 1, ts_ns + 1000 * 880, 1000 * 40, 'TransferFromDevice', 'transfer' FROM step UNION ALL
SELECT 1, ts_ns + 1000 * 920, 1000 * 40, 'read_batch', 'scope' FROM step UNION ALL
SELECT 1, ts_ns + 1000 * 960, 1000 * 40, 'log_loss', 'scope' FROM step;
-- The copies: their length is the figure under test.
INSERT INTO transfer (process_id, ordinal, direction, ts_ns, dur_ns, device, step_id)
SELECT 1, ordinal, 'from_device', ts_ns + 1000 * 880, 1000 * {copy_us}, 'TPU:0', id FROM step;
