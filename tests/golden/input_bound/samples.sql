-- case just_fires_by_samples samples=40
-- case just_does_not_fire_by_samples samples=39
--
-- A JAX program is run by xlaprof run. Nothing but its stacks shows that it waits for data: in half of
-- the samples since its profile began, the main thread is in PyTorch's DataLoader.
--
-- Figure under test: {samples} samples.
-- Threshold: 40 samples show the share of the time.

INSERT INTO run (id, label, selected, why) VALUES (1, 'sampled waits', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'process.7.jsonl', 'process_record', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host, pid) VALUES (1, 1, 1, 0, 'vm', 7);
INSERT INTO track (id, process_id, kind, name, tid, sort) VALUES (1, 1, 'samples', 'MainThread (sampled)', 7, 0);
-- Times are written as 1000000 * milliseconds.
INSERT INTO observed_process (id, process_id, command, ts_ns, dur_ns, ended, steps, step_unit, profile_moment, profile_ts_ns, profile_dur_ns, profile_first_step, profile_end_step)
VALUES (1, 1, 'python train.py', 0, 1000000 * 3000, 1, 30, 'step_annotation', 'steady', 1000000 * 1000, 1000000 * 500, 10, 15);
INSERT INTO stack (id, hash) VALUES (1, 'loads'), (2, 'trains');
INSERT INTO frame (stack_id, depth, function, file, line, owner) VALUES
  (1, 0, '__getitem__', '/home/user/train/data.py', 12, 'user'),
  (1, 1, 'fetch', '/usr/lib/python3/site-packages/torch/utils/data/_utils/fetch.py', 50, 'loader'),
  (1, 2, 'main', '/home/user/train/train.py', 30, 'user'),
  (2, 0, 'main', '/home/user/train/train.py', 31, 'user');
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {samples} - 1)
INSERT INTO host_sample (process_id, track_id, ts_ns, dur_ns, stack_id)
SELECT 1, 1, 1000000 * (1000 + 50 * i), 1000000 * 50, 1 + i % 2 FROM n;
