-- case just_fires_by_kernel_wait kernel_us=948 period_us=1000 copy_us=0
-- case just_does_not_fire_by_kernel_wait kernel_us=950 period_us=1000 copy_us=0
-- case just_fires_by_long_wait kernel_us=9010 period_us=10000 copy_us=0
-- case just_does_not_fire_by_long_wait kernel_us=8990 period_us=10000 copy_us=0
-- case just_fires_by_copy kernel_us=8000 period_us=10000 copy_us=201
-- case just_does_not_fire_by_copy kernel_us=8000 period_us=10000 copy_us=199
--
-- A PyTorch program launches ten kernels at the start of each of its ten steps. The GPU has them all in
-- its queue, and pauses between them.
--
-- Figure under test: each kernel takes {kernel_us} us, and the GPU idles for the rest of {period_us} us,
-- in which a copy takes {copy_us} us.
-- Threshold: idle time of one cause counts from 5 % of the steady time on. A kernel that waits for 1 ms
-- waits for something that the file does not show, which is only mentioned, unless copies take 10 % of its
-- wait.

INSERT INTO run (id, label, selected, why) VALUES (1, 'ten steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'stream 7', 'GPU:0', 1);
-- 10 steps of ten kernels. Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 10 * {period_us} * i, 1000 * 10 * {period_us} FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * 10 * {period_us} * i, 1000 * 10 * {period_us}, 'train', 'step' FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category, flow_out)
SELECT 1, 1000 * (10 * {period_us} * (i / 10) + 20 * (i % 10)), 1000 * 20, 'cudaLaunchKernel', 'execute', i + 1 FROM n;
-- The kernels: the figure under test is their length.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category, flow_in)
SELECT 2, 1000 * ({period_us} * i + 200), 1000 * {kernel_us}, 'add', 'op', i + 1 FROM n;
-- Copies in the pauses, which may be what the kernels wait for.
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
INSERT INTO transfer (process_id, ordinal, direction, bytes, ts_ns, dur_ns, device)
SELECT 1, i, 'to_device', 4000, 1000 * ({period_us} * i + 210 - ({period_us} - {kernel_us})), 1000 * {copy_us}, 'GPU:0' FROM n WHERE {copy_us} > 0;
