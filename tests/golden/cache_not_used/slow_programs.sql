-- case just_fires_by_write is_stored=0 not_stored='write_failed'
-- case just_does_not_fire_by_empty_cache is_stored=1 not_stored=NULL
--
-- JAX compiles 5 programs for 2 s each, with a persistent cache that was empty.
--
-- Figure under test: whether JAX wrote them to the cache ({is_stored}), and why not ({not_stored}).
-- Threshold: programs that a cache could keep are a warning from 10 s and 10 % of all compiling on.
-- There is none for those that it keeps, because a first run compiles each program once.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'jax.log', 'jax_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
-- One large program, which the cache keeps.
INSERT INTO compile (id, process_id, ordinal, cause, function, dur_ns, dur_from, persistent_hit, inferred) VALUES (1, 1, 0, 'call', 'train_step', 1000 * 1000000 * 50, 'log', 0, 0);
INSERT INTO cache_lookup (process_id, ordinal, compile_id, cache, result, program, key, is_stored) VALUES (1, 0, 1, 'jax_persistent', 'miss', 'jit_train_step', 'jit_train_step-1', 1);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5)
INSERT INTO compile (id, process_id, ordinal, cause, function, dur_ns, dur_from, persistent_hit, inferred)
SELECT 1 + i, 1, i, 'call', 'layer_' || i, 1000000 * 2000, 'log', 0, 0 FROM n;
INSERT INTO cache_lookup (process_id, ordinal, compile_id, cache, result, program, key, is_stored, not_stored)
SELECT 1, ordinal, id, 'jax_persistent', 'miss', 'jit_' || function, 'jit_' || function || '-7', {is_stored}, {not_stored} FROM compile WHERE id > 1;
