-- case just_fires_by_second_step steps=2
-- case just_does_not_fire_by_second_step steps=1
--
-- A profile shows a few steps of 100 ms on a TPU, which is busy all the time. In each step the host
-- records all operations of its graph again, for 99 ms.
--
-- Figure under test: {steps} step(s).
-- Threshold: one step may be anything. From two on it is a warning.

INSERT INTO run (id, label, selected, why) VALUES (1, 'steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
-- The profile holds the program that the steps execute.
INSERT INTO graph (process_id, printed_as) VALUES (1, 'hlo');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'XLA Modules', 'TPU:0', 1);
-- How many steps there are is the figure under test. Times are written as 1000 * microseconds.
CREATE TEMP TABLE steps AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT i FROM n LIMIT {steps};
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * 100000 * i, 1000 * 100000 FROM steps;
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * 100000 * i, 1000 * 100000, 'train', 'step' FROM steps UNION ALL
SELECT 1, 1000 * 100000 * i, 1000 * 99000, 'LazyTracing', 'tracing' FROM steps UNION ALL
SELECT 2, 1000 * 100000 * i, 1000 * 100000, 'jit_train', 'module' FROM steps;
