-- case just_fires_by_second_time waits=2
-- case just_does_not_fire_by_second_time waits=1
--
-- A training runs ten steps of 10 ms on a TPU, which is busy all the time. In some of them it waits
-- in an infeed, for all of the step.
--
-- Figure under test: the infeed waits in {waits} of ten steps.
-- Threshold: what happens once is not a pattern. From two times on it is a warning (at 10 % of the
-- busy time or more).

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
-- How many steps wait is the figure under test.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 3, 1000 * 10000 * i, 1000 * 10000, 'infeed.1', 'op' FROM n WHERE i < {waits};
