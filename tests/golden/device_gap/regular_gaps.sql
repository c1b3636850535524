-- case just_fires_by_regular_gaps images=4
-- case just_does_not_fire_by_regular_gaps images=3
--
-- A program makes images on a TPU, each in 15 steps of 100 ms. In the last step of each image, the
-- host puts a watermark into the image for 90 ms, and the device waits for it.
--
-- Figure under test: {images} images, so that 1 of 15 steps has such a gap.
-- Threshold: idle time that fewer than a tenth of the steps have is a pattern if 4 gaps lie at regular
-- distances from the start of the run to its end.

INSERT INTO run (id, label, selected, why) VALUES (1, '{images} images', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'XLA Modules', 'TPU:0', 1);
-- Steps of 100 ms. Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 15 * {images} - 1)
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'denoise', 1000 * 100000 * i, 1000 * 100000 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 15 * {images} - 1)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * 100000 * i, 1000 * 100000, 'denoise', 'step' FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 15 * {images} - 1)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * (100000 * i + 10000), 1000 * 90000, 'watermark', 'scope' FROM n WHERE i % 15 = 14;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 15 * {images} - 1)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 2, 1000 * 100000 * i, 1000 * iif(i % 15 = 14, 10000, 100000), 'jit_denoise', 'module' FROM n;
