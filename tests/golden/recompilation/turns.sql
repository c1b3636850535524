-- case just_fires_by_turns turns=9
-- case just_does_not_fire_by_turns turns=8
--
-- A model trains on batches of several lengths and widths, in 100 steps of 100 ms, which xlaprof run
-- observed. Two lengths and two widths are compiled in steps 6 to 15, and each pair takes 6 % of the
-- time. Later, two lengths take turns.
--
-- Figure under test: the shorter length comes {turns} times between steps with the longer one.
-- Threshold: what compiled at a place and has stopped is a warning if it took 10 % of the time in all, and
-- if a quarter of the executions there run another program than the one before.

INSERT INTO run (id, label, selected, why) VALUES (1, '100 steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO source (id, path, format, imported, kind) VALUES (2, 'process.7.jsonl', 'process_record', 1, 'reports');
INSERT INTO observed_process (id, process_id, command, ts_ns, dur_ns, ended, steps, step_unit)
VALUES (1, 1, 'python train.py', 0, 10000000000, 1, 100, 'step_annotation');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO site (id, function, file, line) VALUES (1, 'train', '/home/ana/fit.py', 31);
-- The length and the width of each step's batch, and the graph that they make.
CREATE TEMP TABLE batch AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
SELECT i AS step, CASE WHEN i = 6 THEN 96 WHEN i = 12 THEN 64 WHEN i >= 30 AND i < 30 + 3 * {turns} AND i % 3 = 2 THEN 96 ELSE 128 END AS length,
  CASE i WHEN 9 THEN 32 WHEN 15 THEN 16 ELSE 64 END AS width FROM n;
INSERT INTO graph (id, process_id, hash, node_count, printed_as)
SELECT DISTINCT 1000 * length + width, 1, printf('%x', 1000 * length + width), 3, 'ir_text' FROM batch;
INSERT INTO graph_node (graph_id, idx, op, shape, operands, location, root)
SELECT id, 0, 'xla::device_data', 's64[8,' || (id / 1000) || ']', '', 'train@fit.py:24', NULL FROM graph UNION ALL
SELECT id, 1, 'xla::device_data', 'f32[900,' || (id % 1000) || ']', '', 'train@fit.py:25', NULL FROM graph UNION ALL
SELECT id, 2, 'aten::embedding', 'f32[8,' || (id / 1000) || ',' || (id % 1000) || ']', '1,0', 'forward@sparse.py:190', 0 FROM graph;
-- Times are written as 1000 * microseconds.
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT step + 1, 1, step, step, 'train', 1000 * 100000 * step, 1000 * 100000 FROM batch;
INSERT INTO event (track_id, ts_ns, dur_ns, name, category) SELECT 1, ts_ns, dur_ns, 'train', 'step' FROM step;
INSERT INTO compile (process_id, ordinal, graph_id, cause, site_id, step_id, inferred, ts_ns, dur_ns, dur_from)
SELECT 1, 2 * min(step), 1000 * length + width, 'user_sync', 1, min(step) + 1, 0, 1000 * 100000 * min(step), 1000 * 300000, 'profile' FROM batch GROUP BY length, width;
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id, step_id)
SELECT 1, 2 * step + 1, 1000 * length + width, 'user_sync', 1, step + 1 FROM batch;
