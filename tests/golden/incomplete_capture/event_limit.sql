-- case just_fires_by_event_limit events=1000000
-- case just_does_not_fire_by_event_limit events=999999
--
-- The profiler of a training stopped recording when it held so many events.
--
-- Figure under test: the profile holds {events} events.
-- Threshold: older profilers stop at exactly 1,000,000 events. Any other number is chance.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a long profile', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
-- The first event is a step, and so is the second. All others are calls of 1 us. Their number is the figure under test.
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns) VALUES (1, 1, 0, 0, 'train', 0, 500000000), (2, 1, 1, 1, 'train', 500000000, 500000000);
INSERT INTO event (track_id, ts_ns, dur_ns, name, category) VALUES (1, 0, 500000000, 'train', 'step'), (1, 500000000, 500000000, 'train', 'step');
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT {events} - 2)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category) SELECT 1, 1000 * i, 1000, 'aten::add', 'host' FROM n;
