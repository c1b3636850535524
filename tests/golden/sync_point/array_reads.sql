-- case just_fires_by_array_reads idle_us=5100
-- case just_does_not_fire_by_array_reads idle_us=4900
--
-- A JAX program runs ten steps of 100 ms on a TPU. In the last 10 ms of each it reads an array, and waits
-- until the device has computed it.
--
-- Figure under test: the device has nothing to do for {idle_us} us of each read.
-- Threshold: reads of JAX's arrays are a warning if the device is idle in them for 5 % of the steps.

INSERT INTO run (id, label, selected, why) VALUES (1, 'ten steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'XLA Modules', 'TPU:0', 1);
-- Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 100000 * i, 1000 * 100000 FROM n;
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, ts_ns, dur_ns, 'train', 'step' FROM step UNION ALL
SELECT 1, ts_ns + 1000 * 90000, 1000 * 10000, 'np.asarray(jax.Array)', 'transfer' FROM step UNION ALL
SELECT 2, ts_ns, 1000 * (100000 - {idle_us}), 'jit_train', 'module' FROM step;
