-- case just_fires_by_unit executions=10 main_us=661
-- case just_does_not_fire_by_unit executions=10 main_us=659
--
-- A profile without steps shows two programs, which execute by turns.
--
-- Figure under test: each of {executions} executions of the main program takes {main_us} us, and each of the other
-- one takes the rest of 1,000 us.
-- Threshold: a program that takes 66 % of all execution time is the unit of the run.

INSERT INTO run (id, label, selected, why) VALUES (1, 'two programs', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (1, 1, 'device_stream', 'XLA Modules', 'TPU:0', 0);
INSERT INTO graph (id, process_id, hash, name) VALUES (1, 1, 'a', 'jit_main'), (2, 1, 'b', 'jit_other');
-- Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {executions})
INSERT INTO execution (process_id, ordinal, graph_id, cause, ts_ns, dur_ns, device)
SELECT 1, 2 * i, 1, 'call', 1000 * 1000 * i, 1000 * {main_us}, 'TPU:0' FROM n UNION ALL
SELECT 1, 2 * i + 1, 2, 'call', 1000 * (1000 * i + {main_us}), 1000 * (1000 - {main_us}), 'TPU:0' FROM n;
INSERT INTO event (track_id, ts_ns, dur_ns, name, category) SELECT 1, ts_ns, dur_ns, name, 'module' FROM execution JOIN graph ON graph.id = graph_id;
