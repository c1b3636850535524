-- case just_fires_by_half_the_steps copies=5
-- case just_does_not_fire_by_half_the_steps copies=4
--
-- A training runs ten steps of 100 ms on a TPU. At the end of some steps it copies a result to the
-- host, which takes 15 ms. The device is idle meanwhile: no single activity of the host fills 5 %
-- of the time, so no device_gap is reported.
--
-- Figure under test: {copies} of ten steps copy.
-- Threshold: copies are a warning if there is one in two steps. Fewer are a checkpoint or a log.

INSERT INTO run (id, label, selected, why) VALUES (1, 'ten steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'XLA Modules', 'TPU:0', 1);
-- 10 steps of 100 ms. Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 100000 * i, 1000 * 100000 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * 100000 * i, 1000 * 100000, 'train', 'step' FROM n;
-- The steps that copy: how many there are is the figure under test.
CREATE TEMP TABLE copying AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT i FROM n LIMIT {copies};
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 2, 1000 * 100000 * i, 1000 * iif(i IN (SELECT i FROM copying), 85000, 100000), 'jit_train', 'module' FROM n;
-- The host asks for the copy, and reads its next batch while the copy goes on.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * (100000 * i + 85000), 1000 * 7500, 'TransferFromDevice', 'transfer' FROM n WHERE i IN (SELECT i FROM copying);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * (100000 * i + 92500), 1000 * 7500, 'read_batch', 'scope' FROM n WHERE i IN (SELECT i FROM copying);
-- The copies.
INSERT INTO transfer (process_id, ordinal, direction, bytes, ts_ns, dur_ns, device, step_id)
SELECT 1, i, 'from_device', 9000000, 1000 * (100000 * i + 85000), 1000 * 15000, 'TPU:0', i + 1 FROM copying;
