-- case just_fires_by_sure_names names=2 calls=9 loops=0 inputs=1
-- case just_does_not_fire_by_sure_names names=1 calls=9 loops=0 inputs=1
-- case just_fires_by_repeated_loop names=3 calls=9 loops=3 inputs=1
-- case just_does_not_fire_by_repeated_loop names=3 calls=9 loops=2 inputs=1
-- case just_fires_by_inputs names=3 calls=9 loops=0 inputs=5
-- case just_does_not_fire_by_inputs names=3 calls=9 loops=0 inputs=4
--
-- JAX's log names the programs that it compiles. Some are operations outside of jit by their cause, and
-- others only by their names.
--
-- Figure under test: {names} names are sure. {calls} programs have the name of an operation and {inputs} inputs each, and one
-- line compiles {loops} loops.
-- Threshold: two sure names show that short names are operations, too, unless they have more than four
-- inputs. A loop that a line compiles more than twice has a recompilation of its own.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'jax.log', 'jax_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'main', '/home/user/train.py', 12);
CREATE TEMP TABLE operation (id, name);
INSERT INTO operation VALUES (1, 'convert_element_type'), (2, 'broadcast_in_dim'), (3, 'dynamic_slice');
INSERT INTO compile (process_id, ordinal, cause, function, dur_ns, dur_from, inferred) SELECT 1, id, 'operation', name, 1000000, 'log', 0 FROM operation LIMIT {names};
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {calls})
INSERT INTO graph (id, process_id, name, input_count, printed_as, node_count) SELECT 1 + i, 1, 'add', {inputs}, 'signature', 1 FROM n;
INSERT INTO graph_node (graph_id, idx, op, shape, operands) SELECT id, 0, 'parameter', 'f32[' || id || ']', '' FROM graph;
INSERT INTO compile (process_id, ordinal, cause, function, graph_id, dur_ns, dur_from, inferred) SELECT 1, 100 + id, 'call', 'add', id, 1000000, 'log', 0 FROM graph;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
INSERT INTO compile (process_id, ordinal, cause, function, site_id, dur_ns, dur_from, inferred) SELECT 1, 200 + i, 'call', 'scan', 1, 1000000, 'log', 0 FROM n WHERE i <= {loops};
