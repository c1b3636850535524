-- Two runs of a JAX program compile train_step, and each writes it to the cache under another key.
--
-- Figure under test: two runs have another key each. Between them, the code may have changed.
-- Threshold: three runs with another key each are a warning, if compiling takes 10 s and 10 % of all compiling.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'jax.log', 'jax_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (2, 1, 1, 0, 'vm');
INSERT INTO graph (id, process_id, name, input_count, printed_as, node_count) VALUES (1, 1, 'train_step', 1, 'signature', 1);
INSERT INTO graph_node (graph_id, idx, op, shape, operands) VALUES (1, 0, 'parameter', 'f32[64,64]', '');
INSERT INTO compile (id, process_id, ordinal, graph_id, cause, function, dur_ns, dur_from, persistent_hit, inferred) VALUES (1, 1, 0, 1, 'call', 'train_step', 50000000000, 'log', 0, 0);
INSERT INTO cache_lookup (process_id, ordinal, compile_id, cache, result, program, key, is_stored) VALUES (1, 0, 1, 'jax_persistent', 'miss', 'jit_train_step', 'jit_train_step-1', 1);
INSERT INTO graph (id, process_id, name, input_count, printed_as, node_count) VALUES (2, 2, 'train_step', 1, 'signature', 1);
INSERT INTO graph_node (graph_id, idx, op, shape, operands) VALUES (2, 0, 'parameter', 'f32[64,64]', '');
INSERT INTO compile (id, process_id, ordinal, graph_id, cause, function, dur_ns, dur_from, persistent_hit, inferred) VALUES (2, 2, 0, 2, 'call', 'train_step', 50000000000, 'log', 0, 0);
INSERT INTO cache_lookup (process_id, ordinal, compile_id, cache, result, program, key, is_stored) VALUES (2, 0, 2, 'jax_persistent', 'miss', 'jit_train_step', 'jit_train_step-2', 1);
