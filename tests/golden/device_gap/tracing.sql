-- case just_fires_by_tracing busy_us=49000 samples=40
-- case just_does_not_fire_by_tracing busy_us=51000 samples=40
-- case just_fires_by_share_of_samples busy_us=49000 samples=20
-- case just_does_not_fire_by_share_of_samples busy_us=49000 samples=19
--
-- A training runs 40 steps of 100 ms on a TPU. Nothing is recorded on the host, but xlaprof run sampled its
-- stack, which shows that PyTorch records operations while the device is idle.
--
-- Figure under test: the device works for {busy_us} us of a step's 100,000 us, and {samples} of 40 samples are
-- in PyTorch. The others are in two functions of the user.
-- Threshold: half of the samples name the framework. Idle time in which it works is a warning from 50 %
-- of the steady time on.

INSERT INTO run (id, label, selected, why) VALUES (1, 'sampled steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO source (id, path, format, imported, kind) VALUES (2, 'process.7.jsonl', 'process_record', 1, 'reports');
UPDATE process SET pid = 7;
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'XLA Modules', 'TPU:0', 1);
INSERT INTO track (id, process_id, kind, name, tid, sort) VALUES (3, 1, 'samples', 'MainThread (sampled)', 7, 2);
-- Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39)
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 100000 * i, 1000 * 100000 FROM n;
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 2, ts_ns, 1000 * {busy_us}, 'jit_train', 'module' FROM step UNION ALL
SELECT 1, ts_ns, 1000, 'train', 'host' FROM step UNION ALL
SELECT 1, ts_ns + 1000 * 90000, 1000, 'gc', 'host' FROM step;
INSERT INTO stack (id, hash) VALUES (1, 'in torch'), (2, 'in blur'), (3, 'in shuffle');
INSERT INTO frame (stack_id, depth, function, file, line, owner) VALUES
  (1, 0, '_mark_step', '/usr/lib/python3/site-packages/torch_xla/core/xla_model.py', 12, 'torch_xla'), (1, 1, 'main', '/home/user/train/train.py', 30, 'user'),
  (2, 0, 'blur', '/home/user/train/augment.py', 12, 'user'), (2, 1, 'main', '/home/user/train/train.py', 30, 'user'),
  (3, 0, 'shuffle', '/home/user/train/augment.py', 20, 'user'), (3, 1, 'main', '/home/user/train/train.py', 30, 'user');
INSERT INTO host_sample (process_id, track_id, ts_ns, dur_ns, stack_id)
SELECT 1, 3, ts_ns + 1000 * 80000, 1000 * 5000, iif(id <= {samples}, 1, 2 + id % 2) FROM step;
