-- case just_fires_by_large_uploads bytes=65536 upload_us=93000 others=0
-- case just_does_not_fire_by_large_uploads bytes=65535 upload_us=93000 others=0
-- case just_fires_by_batch bytes=256 upload_us=95000 others=0
-- case just_does_not_fire_by_batch bytes=255 upload_us=95000 others=0
-- case just_fires_by_time_before_batch bytes=256 upload_us=94100 others=0
-- case just_does_not_fire_by_time_before_batch bytes=256 upload_us=93900 others=0
-- case just_fires_by_other_uploads bytes=256 upload_us=95000 others=1
-- case just_does_not_fire_by_other_uploads bytes=256 upload_us=95000 others=2
--
-- A training runs ten steps of 100 ms on a TPU. Nothing is recorded on the host while the device is idle,
-- in the last 30 ms of each step, but an upload.
--
-- Figure under test: {bytes} bytes are uploaded after {upload_us} us of each step, and {others} of ten steps
-- have an upload of another thread.
-- Threshold: the time before uploads of 64 KiB is taken for their preparation. So is the time before those
-- of a batch, which has 256 bytes or more, if it is 80 % of the idle time, and if other threads make at
-- most a tenth of the uploads.

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
SELECT 1, ts_ns, 1000, 'train', 'host' FROM step UNION ALL
SELECT 1, ts_ns + 1000 * {upload_us}, 1000 * 10, 'TransferToDevice', 'transfer' FROM step UNION ALL
SELECT 2, ts_ns, 1000 * 70000, 'jit_train', 'module' FROM step;
INSERT INTO transfer (process_id, ordinal, direction, bytes, ts_ns, dur_ns, device, step_id, track_id)
SELECT 1, id, 'to_device', {bytes}, ts_ns + 1000 * {upload_us}, 1000 * 10, 'TPU:0', id, 1 FROM step;
INSERT INTO track (id, process_id, kind, name, sort) VALUES (3, 1, 'host_thread', 'loader', 2);
INSERT INTO transfer (process_id, ordinal, direction, bytes, ts_ns, dur_ns, device, step_id, track_id)
SELECT 1, 100 + id, 'to_device', 4, ts_ns + 1000 * 10000, 1000 * 10, 'TPU:0', id, 3 FROM step WHERE id <= {others};
-- A report of the metrics has the sizes.
INSERT INTO source (id, path, format, imported, kind) VALUES (2, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO metrics_report (id, source_id, process_id, ordinal, mark_step) VALUES (1, 2, 1, 0, 10);
INSERT INTO counter (report_id, name, value) VALUES (1, 'MarkStep', 10);
INSERT INTO metric (id, report_id, name, unit, samples, accumulator, text) VALUES (1, 1, 'OutboundData', 'bytes', 10, 10 * {bytes}, '');
INSERT INTO metric_percentile (metric_id, p, value) VALUES (1, 50, {bytes}), (1, 99, {bytes});
