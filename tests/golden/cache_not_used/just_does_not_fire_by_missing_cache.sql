-- JAX compiles 5 programs for 2 s each, and its log proves that no persistent cache is in use.
--
-- Figure under test: no program asks a cache.
-- Threshold: there is none. Many programs have no cache. From 10 s on, it is mentioned.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'jax.log', 'jax_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
-- One large program.
INSERT INTO compile (id, process_id, ordinal, cause, function, dur_ns, dur_from, persistent_hit, inferred) VALUES (1, 1, 0, 'call', 'train_step', 1000 * 1000000 * 50, 'log', NULL, 0);
INSERT INTO cache_lookup (process_id, ordinal, compile_id, cache, result, program, key, is_stored, not_stored) VALUES (1, 0, 1, 'jax_persistent', 'bypass', NULL, NULL, 0, 'disabled');
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5)
INSERT INTO compile (id, process_id, ordinal, cause, function, dur_ns, dur_from, persistent_hit, inferred)
SELECT 1 + i, 1, i, 'call', 'layer_' || i, 1000000 * 2000, 'log', 0, 0 FROM n;
INSERT INTO cache_lookup (process_id, ordinal, compile_id, cache, result, program, key, is_stored, not_stored, least_ns)
SELECT 1, ordinal, id, 'jax_persistent', 'bypass', NULL, NULL, 0, 'disabled', NULL FROM compile WHERE id > 1;
