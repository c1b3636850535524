-- case just_fires_by_count_without_steps recompiles=3
-- case just_does_not_fire_by_count_without_steps recompiles=2
--
-- JAX logs each compilation of the function train_step, but neither its time nor a step.
--
-- Figure under test: {recompiles} compilations after the first.
-- Threshold: where no step is known, three recompilations are a warning.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'jax.log', 'jax_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
-- The compilations of one function.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO compile (process_id, ordinal, cause, function, inferred)
SELECT 1, i, 'call', 'train_step', 0 FROM n LIMIT 1 + {recompiles};
