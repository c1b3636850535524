-- A program executes its graph 100 times, for 10 ms each, but the third time for longer. The
-- finding is only information.
--
-- Figure under test: the third execution takes 54 ms longer than usual, which is 5.1 % of all
-- execution time.
-- Threshold: outliers are mentioned if they cost 5 % of all execution time.

INSERT INTO run (id, label, selected, why) VALUES (1, 'executions', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO graph (id, process_id, hash, name) VALUES (1, 1, 'aa', 'jit_train');
-- How long each execution takes, in us.
CREATE TEMP TABLE took AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 100)
SELECT i, iif(i = 2, 64000, 10000) AS us FROM n;
-- They follow one after the other, and each is a step. Times are written as 1000 * microseconds.
CREATE TEMP TABLE timed AS SELECT i, us, (SELECT coalesce(sum(us), 0) FROM took before WHERE before.i < took.i) AS begin FROM took;
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * begin, 1000 * us FROM timed;
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * begin, 1000 * us, 'train', 'step' FROM timed;
INSERT INTO execution (process_id, ordinal, graph_id, ts_ns, dur_ns, device, cause, step_id)
SELECT 1, i, 1, 1000 * begin, 1000 * us, 'TPU:0', 'call', i + 1 FROM timed;
