-- case just_fires_by_operations operations=50 period_us=1000
-- case just_does_not_fire_by_operations operations=49 period_us=1000
-- case just_fires_by_starts operations=50 period_us=62000
-- case just_does_not_fire_by_starts operations=50 period_us=63000
--
-- A JAX program calls its jitted step five times, and computes outside of jit between the calls.
--
-- Figure under test: {operations} operations run between the first and the last of the five calls, which
-- come every {period_us} us.
-- Threshold: ten executions of single operations for each execution of the jitted function are a
-- finding, and a warning if starting them, which takes 50 us each, is 1 % of the run.

INSERT INTO run (id, label, selected, why) VALUES (1, 'outside of jit', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO graph (id, process_id, hash, name) VALUES (1, 1, 'a', 'jit_step'), (2, 1, 'b', 'jit_multiply');
-- 5 executions of the step, and the operations between them: their number is the figure under test.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 4)
INSERT INTO execution (process_id, ordinal, graph_id, cause, ts_ns, dur_ns)
SELECT 1, 100 * i, 1, 'call', 1000 * {period_us} * i, 500000 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {operations})
INSERT INTO execution (process_id, ordinal, graph_id, cause, ts_ns, dur_ns)
SELECT 1, 1 + i, 2, 'call', 500000 + 1000 * i, 1000 FROM n;
