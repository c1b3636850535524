-- case just_fires_by_step_markers steps=0
-- case just_does_not_fire_by_step_markers steps=2
--
-- Somebody took a profile of a program for 10 ms. The finding is only information.
--
-- Figure under test: {steps} of the steps are marked.
-- Threshold: a profile with events and without a single marked step does not show a step's time.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a profile', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
-- Times are written as 1000 * microseconds.
INSERT INTO event (track_id, ts_ns, dur_ns, name, category) VALUES (1, 0, 1000 * 10000, 'ExecuteReplicated', 'execute');
-- How many steps are marked is the figure under test.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1)
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 5000 * i, 1000 * 5000 FROM n LIMIT {steps};
