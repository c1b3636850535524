-- case just_fires_by_setting settings=1
-- case just_does_not_fire_by_setting settings=0
--
-- A run was recorded with XLA_IR_DEBUG, or without it. The finding is only information.
--
-- Figure under test: {settings} setting(s) that slow the run were seen.
-- Threshold: each setting that slows a run is mentioned.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a run', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
-- 2 steps of 10 ms. Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1)
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 10000 * i, 1000 * 10000 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * 10000 * i, 1000 * 10000, 'train', 'step' FROM n;
-- How many such settings were seen is the figure under test.
INSERT INTO setting (process_id, name, value, evidence) SELECT 1, 'ir_debug', '1', 'the graphs carry lines' LIMIT {settings};
