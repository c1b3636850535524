-- case just_fires_by_array elements=4000000 compile_ms=1000
-- case just_does_not_fire_by_array elements=3999999 compile_ms=1000
-- case just_fires_by_time_with_array elements=4000000 compile_ms=1000
-- case just_does_not_fire_by_time_with_array elements=4000000 compile_ms=999
--
-- JAX compiles a function that closes over an array of numbers, which becomes a constant of its program.
--
-- Figure under test: the array has {elements} elements of 4 bytes, and compiling takes {compile_ms} ms.
-- Threshold: an array of 16 MB is large, and compiling a program with one is a warning from 1 s on.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a dump', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'module_0001.jit_train_step.cpu_after_optimizations.txt', 'xla_dump', 1, 'compiled');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'main', '/home/user/train.py', 12);
INSERT INTO graph (id, process_id, hash, name, printed_as, node_count) VALUES (1, 1, 'a', 'jit_train_step', 'hlo_optimized', 3);
INSERT INTO graph_node (graph_id, idx, op, shape, operands, location, root) VALUES
  (1, 0, 'parameter', 'f32[{elements}]{0}', '', NULL, NULL), (1, 1, 'constant', 'f32[{elements}]{0}', '', NULL, NULL),
  (1, 2, 'add', 'f32[{elements}]{0}', '0,1', 'loss@/home/user/train.py:8', 0);
INSERT INTO compile (process_id, ordinal, cause, graph_id, function, site_id, dur_ns, dur_from, inferred)
VALUES (1, 0, 'call', 1, 'train_step', 1, 1000000 * {compile_ms}, 'log', 0);
