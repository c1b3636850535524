-- case just_fires_by_host_offload wait_us=1010 host_us=0 memory=:S(5)
-- case just_does_not_fire_by_host_offload wait_us=990 host_us=0 memory=:S(5)
-- case just_fires_by_host_memory wait_us=900 host_us=101 memory=:S(0)
-- case just_does_not_fire_by_host_memory wait_us=902 host_us=99 memory=:S(0)
--
-- A training runs ten steps of 10 ms on a TPU, which is busy all the time. Its weights are in the
-- host's memory, so each step waits until they are copied.
--
-- Figure under test: in each step of 10,000 us, copy-done takes {wait_us} us from the memory {memory}, and
-- {host_us} us from the host's, which is S(5).
-- Threshold: waiting is a warning from 10 % of the device's busy time on, and information below. It is
-- for the host's memory if copies from there are a tenth of it.

INSERT INTO run (id, label, selected, why) VALUES (1, 'ten steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'XLA Modules', 'TPU:0', 1);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (3, 1, 'device_stream', 'XLA Ops', 'TPU:0', 2);
-- 10 steps of 10 ms. Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 10000 * i, 1000 * 10000 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * 10000 * i, 1000 * 10000, 'train', 'step' FROM n;
-- The TPU is busy all the time.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 2, 1000 * 10000 * i, 1000 * 10000, 'jit_train', 'module' FROM n;
-- The waiting ops: their length is the figure under test.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 3, 1000 * 10000 * i, 1000 * {wait_us}, '%copy-done.2 = f32[1024]{0{memory}} copy-done(%copy-start.2)', 'op' FROM n;
-- A second copy, which says that its array is in the host's memory.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 3, 1000 * (10000 * i + 5000), 1000 * {host_us}, '%copy-done.3 = f32[1024]{0:S(5)} copy-done(%copy-start.3)', 'op' FROM n WHERE {host_us} > 0;
