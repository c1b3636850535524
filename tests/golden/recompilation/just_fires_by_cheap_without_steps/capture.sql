-- JAX logs each of four compilations of the function train_step with its time, but no step. The
-- first takes 10 s.
--
-- Figure under test: the three recompilations take 7,000 us each.
-- Threshold: where no step is known, three recompilations are a warning if they take 0.2 % of all
-- compiling.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'jax.log', 'jax_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
-- The compilations of one function.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 3)
INSERT INTO compile (process_id, ordinal, cause, function, dur_ns, dur_from, inferred)
SELECT 1, i, 'call', 'train_step', iif(i = 0, 10000000, 7000) * 1000, 'log', 0 FROM n;
