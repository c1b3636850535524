-- case just_fires_by_uploads_in_a_step uploads=32 pause_us=300
-- case just_does_not_fire_by_uploads_in_a_step uploads=31 pause_us=300
-- case just_fires_by_uploads_of_burst uploads=16 pause_us=500
-- case just_does_not_fire_by_uploads_of_burst uploads=15 pause_us=500
-- case just_fires_by_pause uploads=40 pause_us=990
-- case just_does_not_fire_by_pause uploads=40 pause_us=1010
--
-- A training runs ten steps of 100 ms on a TPU. At the end of each step, a loop makes small tensors and
-- uploads them, each in 10 us, while the device is idle.
--
-- Figure under test: {uploads} uploads in each step, with {pause_us} us between them.
-- Threshold: uploads at most 1 ms after each other are one by one, from 16 on. From 32 in each step on
-- they are a warning.

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
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {uploads})
INSERT INTO transfer (process_id, ordinal, direction, bytes, ts_ns, dur_ns, device, step_id, track_id)
SELECT 1, 100 * id + i, 'to_device', 4, ts_ns + 1000 * (50000 + (10 + {pause_us}) * i), 1000 * 10, 'TPU:0', id, 1 FROM step, n;
