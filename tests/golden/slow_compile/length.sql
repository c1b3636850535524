-- case just_fires_by_length compile_s=10
-- case just_does_not_fire_by_length compile_s=9
--
-- JAX logs the compilation of the function train_step.
--
-- Figure under test: it takes {compile_s} s.
-- Threshold: the longest first compilation is mentioned by itself from 10 s on.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, framework, imported, kind) VALUES (1, 'jax.log', 'jax_log', 'jax', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
-- How long it takes is the figure under test.
INSERT INTO compile (process_id, ordinal, cause, function, dur_ns, dur_from, inferred)
VALUES (1, 0, 'call', 'train_step', {compile_s} * 1000000000, 'log', 0);
