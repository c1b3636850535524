-- case just_fires_by_operations_outside_jit operations=10 compile_ms=101
-- case just_does_not_fire_by_operations_outside_jit operations=10 compile_ms=99
-- case just_fires_by_tenth_operation operations=10 compile_ms=1
-- case just_does_not_fire_by_tenth_operation operations=9 compile_ms=1
--
-- A JAX program calls operations outside of jit, and each is compiled as a program of its own.
--
-- Figure under test: {operations} operations, and compiling each of them takes {compile_ms} ms.
-- Threshold: programs of single operations are information from ten on, because a clean start makes
-- fewer. They are a warning if they take 1 s in all.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'jax.log', 'jax_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
-- Operations that JAX compiles alone, because they are called outside of jit.
CREATE TEMP TABLE operation (id, name);
INSERT INTO operation VALUES (1, 'convert_element_type'), (2, 'broadcast_in_dim'), (3, 'dynamic_slice'), (4, 'reduce_sum'), (5, 'dot_general'),
  (6, 'transpose'), (7, 'reduce_max'), (8, 'select_n'), (9, 'squeeze'), (10, 'iota');
INSERT INTO compile (process_id, ordinal, cause, function, dur_ns, dur_from, inferred)
SELECT 1, id, 'operation', name, {compile_ms} * 1000000, 'log', 0 FROM operation LIMIT {operations};
