-- case just_fires_by_window period_us=2100
-- case just_does_not_fire_by_window period_us=1900
--
-- A program executes ten times on a TPU, and works on the host in its scope 'augment' as long in between.
-- No step is marked.
--
-- Figure under test: an execution begins every {period_us} us, so that ten take ten times as long.
-- Threshold: idle time in less than 20 ms without steps is only mentioned.

INSERT INTO run (id, label, selected, why) VALUES (1, 'ten executions', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'XLA Modules', 'TPU:0', 1);
-- Times are written as 1000 * microseconds.
CREATE TEMP TABLE round AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT 1000 * {period_us} * i AS ns FROM n;
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 2, ns, 500 * {period_us}, 'jit_train', 'module' FROM round UNION ALL
SELECT 1, ns + 500 * {period_us}, 500 * {period_us}, 'augment', 'scope' FROM round;
