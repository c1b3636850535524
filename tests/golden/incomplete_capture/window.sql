-- case just_fires_by_window timed=2
-- case just_does_not_fire_by_window timed=3
--
-- A debug log shows three executions of a run, and a profile was taken of its end. The finding is
-- only information.
--
-- Figure under test: the profile's window holds the last {timed} of 3 executions, and only they have
-- times.
-- Threshold: as soon as one execution is outside the window, the counts are of the whole run and
-- the times are of a part.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a window', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO source (id, path, format, imported, kind) VALUES (2, 'train.log', 'debug_log', 1, 'log');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
-- 2 steps of 10 ms. Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1)
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 10000 * i, 1000 * 10000 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * 10000 * i, 1000 * 10000, 'train', 'step' FROM n;
-- How many of the executions have times is the figure under test.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2)
INSERT INTO execution (process_id, ordinal, enqueue_ts_ns, dur_ns, cause)
SELECT 1, i, iif(i >= 3 - {timed}, 1000 * 5000 * i, NULL), iif(i >= 3 - {timed}, 1000 * 5000, NULL), 'user_sync' FROM n;
