-- A PyTorch training of 40 steps of 100 ms calls loss.item() in some of them, which blocks for 14
-- ms each time. PyTorch's profiler shows the read as an operation.
--
-- Figure under test: 4 of 40 steps read.
-- Threshold: a read in a tenth of the steps, here 4, is a warning. What is rarer is information.

INSERT INTO run (id, label, selected, why) VALUES (1, '40 steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
-- 40 steps of 100 ms. Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39)
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 100000 * i, 1000 * 100000 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * 100000 * i, 1000 * 100000, 'train', 'step' FROM n;
-- The steps that read.
CREATE TEMP TABLE reading AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39) SELECT i FROM n LIMIT 4;
-- The reads, and in each of them the copy that waits for the device.
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * (100000 * i + 80000), 1000 * 15000, 'aten::item', 'host' FROM reading;
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * (100000 * i + 80000), 1000 * 14000, 'cudaMemcpyAsync', 'transfer' FROM reading;
