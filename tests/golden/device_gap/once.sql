-- case just_fires_by_long_gap busy_us=39000
-- case just_does_not_fire_by_long_gap busy_us=41000
--
-- A training runs ten steps of 100 ms on a TPU. At the end of each step the host is in its scope
-- 'log_images', and the device has nothing to do for 20 ms until the next step.
--
-- Figure under test: the sixth step is another one, in which the device works for {busy_us} us of 100,000 us.
-- Threshold: a gap of more than three times the recurring idle time, here 60 ms, is reported apart.

INSERT INTO run (id, label, selected, why) VALUES (1, 'ten steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'XLA Modules', 'TPU:0', 1);
-- Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 100000 * i, 1000 * 100000 FROM n;
CREATE TEMP TABLE work AS SELECT id, ts_ns, 1000 * iif(id = 6, {busy_us}, 80000) AS ns FROM step;
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, ts_ns, dur_ns, 'train', 'step' FROM step UNION ALL
SELECT 2, ts_ns, ns, 'jit_train', 'module' FROM work UNION ALL
SELECT 1, ts_ns + ns, 1000 * 100000 - ns, 'log_images', 'scope' FROM work;
