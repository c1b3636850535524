-- case just_fires tracing_ms=2000
-- case just_does_not_fire tracing_ms=1999
--
-- JAX logs the compilation of the function train_step, and how long it was traced before.
--
-- Figure under test: tracing takes {tracing_ms} ms, and compiling 8 s.
-- Threshold: tracing is told beside the compilation from a quarter of its time on.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, framework, imported, kind) VALUES (1, 'jax.log', 'jax_log', 'jax', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
-- How long it is traced is the figure under test.
INSERT INTO compile (process_id, ordinal, cause, function, trace_ns, dur_ns, dur_from, inferred)
VALUES (1, 0, 'call', 'train_step', {tracing_ms} * 1000000, 8000 * 1000000, 'log', 0);
