-- case just_fires_by_compile busy_us=49000
-- case just_does_not_fire_by_compile busy_us=51000
--
-- A training runs ten steps of 100 ms on a TPU. In step 5 it compiles a program for its evaluation,
-- and the device runs out of work meanwhile. The finding is only information, because the
-- compilation has findings of its own.
--
-- Figure under test: in step 5 the device works for {busy_us} us of 100,000 us, and idles for the rest,
-- in a run of 1,000,000 us.
-- Threshold: idle time of one cause is mentioned from 5 % of the steady time on.

INSERT INTO run (id, label, selected, why) VALUES (1, 'ten steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'XLA Modules', 'TPU:0', 1);
-- 10 steps of 100 ms. Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 100000 * i, 1000 * 100000 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * 100000 * i, 1000 * 100000, 'train', 'step' FROM n;
INSERT INTO event (track_id, ts_ns, dur_ns, name, category) VALUES (1, 1000 * 540000, 1000 * 60000, 'compile', 'compile');
INSERT INTO compile (id, process_id, ordinal, ts_ns, dur_ns, dur_from, cause, function, step_id, inferred)
VALUES (1, 1, 0, 1000 * 540000, 1000 * 60000, 'profile', 'call', 'evaluate', 6, 0);
-- The device's work: the figure under test is its length in step 5.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 2, 1000 * 100000 * i, 1000 * iif(i = 5, {busy_us}, 100000), 'jit_train', 'module' FROM n;
INSERT INTO execution (id, process_id, ordinal, ts_ns, dur_ns, device, cause, step_id)
VALUES (1, 1, 1, 0, 1000 * 100000, 'TPU:0', 'call', 1);
