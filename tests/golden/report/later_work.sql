-- case just_fires_by_later_work later_us=310000 busy_us=162000
-- case just_does_not_fire_by_later_work later_us=290000 busy_us=158000
-- case just_fires_by_busy_later_work later_us=900000 busy_us=151000
-- case just_does_not_fire_by_busy_later_work later_us=900000 busy_us=149000
--
-- The host runs five steps of 100 ms, which only queue the device's work.
--
-- Figure under test: the device works until {later_us} us after the last step, for {busy_us} us for each step.
-- Threshold: work that ends more than three steps later is told, if the device is busy for one and a half
-- times a step for each.

INSERT INTO run (id, label, selected, why) VALUES (1, 'five steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'XLA Modules', 'TPU:0', 1);
-- Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 4)
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 100000 * i, 1000 * 100000 FROM n;
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, ts_ns, dur_ns, 'train', 'step' FROM step UNION ALL
SELECT 2, 1000 * (500000 + {later_us} - 5 * {busy_us}), 1000 * 5 * {busy_us}, 'jit_train', 'module';
