-- case just_fires_by_missed_time compile_ms=1000
-- case just_does_not_fire_by_missed_time compile_ms=999
--
-- JAX compiles a program and writes it to its persistent cache, which was empty.
--
-- Figure under test: compiling takes {compile_ms} ms.
-- Threshold: programs that the next run will find are mentioned from 1 s on.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'jax.log', 'jax_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
-- How long compiling takes is the figure under test.
INSERT INTO compile (id, process_id, ordinal, cause, function, dur_ns, dur_from, persistent_hit, inferred)
VALUES (1, 1, 0, 'call', 'train_step', 1000000 * {compile_ms}, 'log', 0, 0);
INSERT INTO cache_lookup (process_id, ordinal, compile_id, cache, result, program, key, is_stored)
VALUES (1, 0, 1, 'jax_persistent', 'miss', 'jit_train_step', 'jit_train_step-1', 1);
