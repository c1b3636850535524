-- case just_fires first=0 last=9 wait_us=5100
-- case just_does_not_fire first=0 last=9 wait_us=4900
-- case just_fires_by_high_share first=0 last=9 wait_us=20100
-- case just_does_not_fire_by_high_share first=0 last=9 wait_us=19900
-- case just_fires_by_second_half first=1 last=5 wait_us=20000
-- case just_does_not_fire_by_second_half first=0 last=4 wait_us=20000
--
-- A training runs ten steps of 100 ms, and waits for its next batch at the start of some or all.
--
-- Figure under test: it waits for {wait_us} us of 100,000 us in each of the steps {first} to {last} of 0 to 9.
-- Threshold: waiting is a warning from 5 % of the steady time on, if a step of the second half waits.
-- Otherwise it has stopped. A program is highly input bound from 20 % on, and moderately below.

INSERT INTO run (id, label, selected, why) VALUES (1, 'ten steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
-- 10 steps of 100 ms. Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 100000 * i, 1000 * 100000 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * 100000 * i, 1000 * 100000, 'train', 'step' FROM n;
-- The waits for a batch: their length and the steps that wait are the figures under test.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * 100000 * i, 1000 * {wait_us}, 'DataLoader.__next__', 'input' FROM n WHERE i BETWEEN {first} AND {last};
