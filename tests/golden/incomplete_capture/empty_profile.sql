-- case just_fires_by_empty_profile events=0
-- case just_does_not_fire_by_empty_profile events=2
--
-- Somebody took a profile after the training had ended, or just before.
--
-- Figure under test: the profile holds {events} events, one for each step.
-- Threshold: a profile without a single event shows nothing, which is a warning.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a profile', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
-- How many steps the profile holds is the figure under test. Times are written as 1000 * microseconds.
CREATE TEMP TABLE seen AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT i FROM n LIMIT {events};
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 10000 * i, 1000 * 10000 FROM seen;
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * 10000 * i, 1000 * 10000, 'train', 'step' FROM seen;
