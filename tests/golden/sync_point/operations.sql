-- case just_fires_by_operations steps=10 reads=10 read_us=1010
-- case just_does_not_fire_by_operations steps=10 reads=10 read_us=990
-- case just_fires_by_rare_operations steps=40 reads=4 read_us=14000
-- case just_does_not_fire_by_rare_operations steps=40 reads=3 read_us=14000
--
-- A PyTorch training of {steps} steps of 100 ms calls loss.item() in some of them or in all. PyTorch's
-- profiler shows the read as an operation.
--
-- Figure under test: {reads} of {steps} steps read, and each read blocks its thread for {read_us} us of
-- 100,000 us.
-- Threshold: a read is a warning if it comes in a tenth of the steps and blocks for 1 % of the steps'
-- time. What is rarer or blocks for less is information.

INSERT INTO run (id, label, selected, why) VALUES (1, '{steps} steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
-- The steps of 100 ms. Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {steps} - 1)
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 100000 * i, 1000 * 100000 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {steps} - 1)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * 100000 * i, 1000 * 100000, 'train', 'step' FROM n;
-- The steps that read.
CREATE TEMP TABLE reading AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {steps} - 1) SELECT i FROM n LIMIT {reads};
-- The reads, and in each of them the copy that waits for the device.
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * (100000 * i + 80000), 1000 * 15000, 'aten::item', 'host' FROM reading;
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * (100000 * i + 80000), 1000 * {read_us}, 'cudaMemcpyAsync', 'transfer' FROM reading;
