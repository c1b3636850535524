-- case just_fires compile_s=121
-- case just_does_not_fire compile_s=119
--
-- JAX logs the compilation of the function train_step.
--
-- Figure under test: it takes {compile_s} s.
-- Threshold: a compilation of more than 120 s is a warning. XLA itself warns from two
-- minutes on.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'jax.log', 'jax_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
-- How long it takes is the figure under test.
INSERT INTO compile (process_id, ordinal, cause, function, dur_ns, dur_from, inferred)
VALUES (1, 0, 'call', 'train_step', {compile_s} * 1000000000, 'log', 0);
