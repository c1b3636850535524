-- case just_fires_by_batch batches=4 wait_us=40000 loader=_SingleProcessDataLoaderIter period_us=100000
-- case just_does_not_fire_by_batch batches=3 wait_us=40000 loader=_SingleProcessDataLoaderIter period_us=100000
-- case just_fires_by_ready_batch batches=20 wait_us=5100 loader=_MultiProcessingDataLoaderIter period_us=60000
-- case just_does_not_fire_by_ready_batch batches=20 wait_us=4900 loader=_MultiProcessingDataLoaderIter period_us=60000
--
-- A training without step marks fetches a batch from its DataLoader every {period_us} us, but only a few
-- times.
--
-- Figure under test: the loader ({loader}) hands out {batches} batches, and the training waits for
-- {wait_us} us each.
-- Threshold: from 4 batches on, so that two periods lie between batches after the first, each batch
-- counts as a step. If workers load the batches, up to 5 ms for each are the time to take a ready
-- one, which is only information.

INSERT INTO run (id, label, selected, why) VALUES (1, '{batches} batches', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'trace.json', 'chrome', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
-- The number of batches is the figure under test. Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {batches})
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * {period_us} * i, 1000 * {wait_us}, 'enumerate(DataLoader)#{loader}.__next__', 'input' FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {batches})
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * ({period_us} * i + {wait_us}), 1000 * ({period_us} - {wait_us}), 'forward', 'scope' FROM n;
