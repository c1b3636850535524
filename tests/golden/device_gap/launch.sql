-- case just_fires_by_launch kernel_us=948
-- case just_does_not_fire_by_launch kernel_us=950
--
-- A PyTorch program launches kernels one after the other, ten in each of its ten steps of 10 ms. A
-- launch takes 1 ms, about as long as a kernel, so the next launch is under way when a kernel ends.
--
-- Figure under test: each kernel takes {kernel_us} us, and the GPU idles for the rest of each ms.
-- Threshold: idle time of one cause counts from 5 % of the steady time on.

INSERT INTO run (id, label, selected, why) VALUES (1, 'ten steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'stream 7', 'GPU:0', 1);
-- 10 steps of 10 ms. Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 10000 * i, 1000 * 10000 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * 10000 * i, 1000 * 10000, 'train', 'step' FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category, flow_out)
SELECT 1, 1000 * 1000 * i, 1000 * 1000, 'cudaLaunchKernel', 'execute', i + 1 FROM n;
-- The kernels: the figure under test is their length.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category, flow_in)
SELECT 2, 1000 * 1000 * (i + 1), 1000 * {kernel_us}, 'add', 'op', i + 1 FROM n;
