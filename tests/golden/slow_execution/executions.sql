-- case just_fires executions=3 every=1 long_us=30100000
-- case just_does_not_fire executions=3 every=1 long_us=29900000
-- case just_fires_by_outlier executions=6 every=100 long_us=51000
-- case just_does_not_fire_by_outlier executions=6 every=100 long_us=49000
-- case just_fires_by_fifth_execution executions=5 every=100 long_us=100000
-- case just_does_not_fire_by_fifth_execution executions=4 every=100 long_us=100000
-- case just_fires_by_share_of_outliers executions=100 every=100 long_us=64000
-- case just_does_not_fire_by_share_of_outliers executions=100 every=100 long_us=61000
-- case just_fires_by_rarity executions=10 every=5 long_us=51000
-- case just_does_not_fire_by_rarity executions=13 every=5 long_us=51000
--
-- A program executes its graph {executions} times, once in each step. One of {every} executions, from the third
-- on, is long. The others take 10 ms.
--
-- Figure under test: of {executions} executions, one in {every} takes {long_us} us.
-- Threshold: an execution of more than 30 s is a warning. torch_xla asks for a bug report from there on.
-- An execution that takes five times as long as usual is mentioned, if such executions are at most a
-- fifth of a graph's and cost 5 % of all execution time. Fewer than five have no usual length.

INSERT INTO run (id, label, selected, why) VALUES (1, 'executions', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO graph (id, process_id, hash, name) VALUES (1, 1, 'aa', 'jit_train');
-- How long each execution takes, in us.
CREATE TEMP TABLE took AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {executions})
SELECT i, iif(i % {every} = 2 % {every}, {long_us}, 10000) AS us FROM n;
-- They follow one after the other, and each is a step. Times are written as 1000 * microseconds.
CREATE TEMP TABLE timed AS SELECT i, us, (SELECT coalesce(sum(us), 0) FROM took before WHERE before.i < took.i) AS begin FROM took;
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, i, 'train', 1000 * begin, 1000 * us FROM timed;
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000 * begin, 1000 * us, 'train', 'step' FROM timed;
INSERT INTO execution (process_id, ordinal, graph_id, ts_ns, dur_ns, device, cause, step_id)
SELECT 1, i, 1, 1000 * begin, 1000 * us, 'TPU:0', 'call', i + 1 FROM timed;
