-- case just_fires_by_whole_step samples=89
-- case just_does_not_fire_by_whole_step samples=90
--
-- A training runs 40 steps of 100 ms on a TPU, which is idle in the last 10 ms of each. Only the step
-- itself is recorded on the host, but xlaprof run sampled its stack in some of the steps. The function
-- in which the host is in the gaps runs in most of the step.
--
-- Figure under test: {samples} of 100 samples are in that function.
-- Threshold: from 90 % of the samples on, a function does not name what the host did.

INSERT INTO run (id, label, selected, why) VALUES (1, 'sampled steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed'), (2, 'process.7.jsonl', 'process_record', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host, pid) VALUES (1, 1, 1, 0, 'vm', 7);
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'XLA Modules', 'TPU:0', 1);
INSERT INTO track (id, process_id, kind, name, tid, sort) VALUES (3, 1, 'samples', 'MainThread (sampled)', 7, 2);
-- Times are written as 1000000 * milliseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39)
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000000 * 100 * i, 1000000 * 100 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000000 * 100 * i, 1000000 * 100, 'train', 'step' FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 2, 1000000 * 100 * i, 1000000 * 90, 'jit_train', 'module' FROM n;
INSERT INTO stack (id, hash) VALUES (1, 'in blur');
INSERT INTO frame (stack_id, depth, function, file, line, owner) VALUES
  (1, 0, 'blur', '/home/user/train/augment.py', 12, 'user'), (1, 1, 'main', '/home/user/train/train.py', 30, 'user');
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5 - 1)
INSERT INTO host_sample (process_id, track_id, ts_ns, dur_ns, stack_id)
SELECT 1, 3, 1000000 * (100 * (i + 3) + 95), 1000000 * 5, 1 FROM n;
INSERT INTO stack (id, hash) VALUES (2, 'in main');
INSERT INTO frame (stack_id, depth, function, file, line, owner) VALUES
  (2, 0, 'main', '/home/user/train/train.py', 31, 'user');
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 95 - 1)
INSERT INTO host_sample (process_id, track_id, ts_ns, dur_ns, stack_id)
SELECT 1, 3, 1000000 * (100 * (i % 40) + 10 + 20 * (i / 40)), 1000000 * 5, CASE WHEN i < {samples} - 5 THEN 1 ELSE 2 END FROM n;
