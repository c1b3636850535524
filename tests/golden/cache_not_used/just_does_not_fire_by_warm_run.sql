-- A first run of a JAX program compiles train_step for 50 s, and a second one loads it in 2 s.
--
-- Figure under test: the second run finds the program. So it is proven what the cache saves.
-- Threshold: there is none. A first run compiles each program once.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'jax.log', 'jax_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (2, 1, 1, 0, 'vm');
-- One large program, which the cache keeps.
INSERT INTO compile (id, process_id, ordinal, cause, function, dur_ns, dur_from, persistent_hit, inferred) VALUES (1, 1, 0, 'call', 'train_step', 1000 * 1000000 * 50, 'log', 0, 0);
INSERT INTO cache_lookup (process_id, ordinal, compile_id, cache, result, program, key, is_stored) VALUES (1, 0, 1, 'jax_persistent', 'miss', 'jit_train_step', 'jit_train_step-1', 1);
INSERT INTO compile (id, process_id, ordinal, cause, function, dur_ns, dur_from, persistent_hit, inferred) VALUES (2, 2, 0, 'call', 'train_step', 2000000000, 'log', 1, 0);
INSERT INTO cache_lookup (process_id, ordinal, compile_id, cache, result, program, key) VALUES (2, 0, 2, 'jax_persistent', 'hit', 'jit_train_step', 'jit_train_step-1');
