-- case just_fires_by_cheap_without_steps recompiles=3 each_us=7000 first_ms=10000
-- case just_does_not_fire_by_cheap_without_steps recompiles=3 each_us=6600 first_ms=10000
-- case just_fires_by_cost_without_steps recompiles=2 each_us=505000 first_ms=2000
-- case just_does_not_fire_by_cost_without_steps recompiles=2 each_us=495000 first_ms=2000
--
-- JAX logs the compilations of the function train_step with their times, but no step. The first takes
-- {first_ms} ms.
--
-- Figure under test: the {recompiles} recompilations take {each_us} us each.
-- Threshold: where no step is known, recompilations are a warning if they take 0.2 % of all compiling,
-- and two of them only if they take 1 s in all.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'jax.log', 'jax_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
-- The compilations of one function.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {recompiles})
INSERT INTO compile (process_id, ordinal, cause, function, dur_ns, dur_from, inferred)
SELECT 1, i, 'call', 'train_step', iif(i = 0, 1000 * {first_ms}, {each_us}) * 1000, 'log', 0 FROM n;
