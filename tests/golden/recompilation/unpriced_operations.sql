-- case just_fires_by_hundredth_operation operations=100 functions=1
-- case just_does_not_fire_by_hundredth_operation operations=99 functions=1
-- case just_fires_by_most_programs operations=102 functions=101
-- case just_does_not_fire_by_most_programs operations=102 functions=102
--
-- JAX's log names the programs that it compiles, but not how long that takes.
--
-- Figure under test: {operations} programs are single operations, and {functions} are functions of the user.
-- Threshold: 100 programs of single operations are a warning if they are more than half of all programs.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'jax.log', 'jax_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {operations})
INSERT INTO compile (process_id, ordinal, cause, function, inferred) SELECT 1, 1000 + i, 'operation', 'reduce_sum', 0 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {functions})
INSERT INTO compile (process_id, ordinal, cause, function, inferred) SELECT 1, i, 'call', 'function_' || i, 0 FROM n;
