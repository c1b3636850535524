-- case just_fires_by_regular_gaps images=4 steps=60 gaps=(14),(29),(44),(59)
-- case just_does_not_fire_by_regular_gaps images=3 steps=45 gaps=(14),(29),(44)
-- case just_fires_by_distance images=4 steps=60 gaps=(14),(24),(44),(59)
-- case just_does_not_fire_by_distance images=4 steps=60 gaps=(14),(24),(45),(59)
--
-- A program makes {images} images on a TPU, in {steps} steps of 100 ms. In the last step of each image, the
-- host puts a watermark into the image for 90 ms, and the device waits for it.
--
-- Figure under test: the steps {gaps} of 0 to {steps} have such a gap.
-- Threshold: idle time that fewer than a tenth of the steps have is a pattern if 4 gaps lie at regular
-- distances from the start of the run to its end, of which the longest is at most twice the shortest.

INSERT INTO run (id, label, selected, why) VALUES (1, '{images} images', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'XLA Modules', 'TPU:0', 1);
-- Steps of 100 ms. Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {steps})
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'denoise', 1000 * 100000 * i, 1000 * 100000 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {steps})
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * 100000 * i, 1000 * 100000, 'denoise', 'step' FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {steps})
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * (100000 * i + 10000), 1000 * 90000, 'watermark', 'scope' FROM n WHERE i IN (SELECT column1 FROM (VALUES {gaps}));
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {steps})
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 2, 1000 * 100000 * i, 1000 * iif(i IN (SELECT column1 FROM (VALUES {gaps})), 10000, 100000), 'jit_denoise', 'module' FROM n;
