-- case just_fires large_s=50 programs=25
-- case just_does_not_fire large_s=50 programs=24
-- case just_does_not_fire_by_share large_s=100 programs=25
--
-- JAX compiles {programs} programs for 400 ms each, after one that takes {large_s} s. Its persistent
-- cache keeps programs from 1 s on.
--
-- Figure under test: the {programs} programs of 400 ms, beside the {large_s} s of the large one.
-- Threshold: programs that a cache could keep are a warning from 10 s and 10 % of all compiling on.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'jax.log', 'jax_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
-- One large program, which the cache keeps.
INSERT INTO compile (id, process_id, ordinal, cause, function, dur_ns, dur_from, persistent_hit, inferred) VALUES (1, 1, 0, 'call', 'train_step', 1000 * 1000000 * {large_s}, 'log', 0, 0);
INSERT INTO cache_lookup (process_id, ordinal, compile_id, cache, result, program, key, is_stored) VALUES (1, 0, 1, 'jax_persistent', 'miss', 'jit_train_step', 'jit_train_step-1', 1);
-- Their number and their share are the figures under test.
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {programs})
INSERT INTO compile (id, process_id, ordinal, cause, function, dur_ns, dur_from, persistent_hit, inferred)
SELECT 1 + i, 1, i, 'call', 'layer_' || i, 1000000 * 400, 'log', 0, 0 FROM n;
INSERT INTO cache_lookup (process_id, ordinal, compile_id, cache, result, program, key, is_stored, not_stored, least_ns)
SELECT 1, ordinal, id, 'jax_persistent', 'miss', 'jit_' || function, 'jit_' || function || '-7', 0, 'compiled_fast', 1000000000 FROM compile WHERE id > 1;
