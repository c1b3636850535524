-- case just_fires_by_second_gap checkpoints=2
-- case just_does_not_fire_by_second_gap checkpoints=1
--
-- A training runs ten steps of 100 ms on a TPU. In some steps the host writes a checkpoint for 60
-- ms, and the device waits for it.
--
-- Figure under test: the checkpoint is written in {checkpoints} of ten steps.
-- Threshold: what happens once is an incident. From two gaps on it is a pattern (here also a tenth
-- of the steps).

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
-- The steps that write a checkpoint; their number is the figure under test.
CREATE TEMP TABLE checkpoint AS
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT i FROM n WHERE i >= 3 LIMIT {checkpoints};
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * (100000 * i + 40000), 1000 * 60000, 'checkpoint', 'scope' FROM checkpoint;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 2, 1000 * 100000 * i, 1000 * iif(i IN (SELECT i FROM checkpoint), 40000, 100000), 'jit_train', 'module' FROM n;
