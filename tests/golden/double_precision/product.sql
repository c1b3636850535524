-- case just_fires bits_of_input=32 product_us=510
-- case just_does_not_fire bits_of_input=32 product_us=490
-- case just_does_not_fire_by_input bits_of_input=64 product_us=510
--
-- A table of float64 makes a network compute in float64.
--
-- Figure under test: the product in float64 takes {product_us} us of each execution of 1,000 us, and
-- the program is given its places in float{bits_of_input}.
-- Threshold: ops in double precision are a finding from 50 % of the busy time on, unless an input is in
-- double precision, too: then the program is meant to compute with it.

INSERT INTO run (id, label, selected, why) VALUES (1, 'forces', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'XLA Modules', 'TPU:0', 1);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (3, 1, 'device_stream', 'XLA Ops', 'TPU:0', 2);
INSERT INTO site (id, function, file, line) VALUES (1, 'main', '/home/user/fit.py', 36);
-- The distances are compared with a table of centres, and the result is multiplied with the weights.
INSERT INTO graph (id, process_id, name, program_id, printed_as) VALUES (1, 1, 'jit_train_step', 7, 'hlo_optimized');
INSERT INTO graph_node (graph_id, idx, op, shape, operands, attributes, location, root, name) VALUES
(1, 0, 'parameter', 'f{bits_of_input}[576,32]{1,0}', '', 'parameter=0, argument="places"', NULL, NULL, 'places.1'),
(1, 1, 'parameter', 'f32[32,128]{1,0}', '', 'parameter=1, argument="weights"', NULL, NULL, 'weights.1'),
(1, 2, 'constant', 'f64[32]{0}', '', 'literal=#fd', 'energy@/home/user/forces.py:18', NULL, 'constant.2'),
(1, 3, 'convert', 'f64[576,32]{1,0}', '0', NULL, 'energy@/home/user/forces.py:18', NULL, 'convert.3'),
(1, 4, 'subtract', 'f64[576,32]{1,0}', '3,2', NULL, 'energy@/home/user/forces.py:18', NULL, 'subtract.4'),
(1, 5, 'convert', 'f64[32,128]{1,0}', '1', NULL, 'energy@/home/user/forces.py:19', NULL, 'convert.5'),
(1, 6, 'dot', 'f64[576,128]{1,0}', '4,5', NULL, 'energy@/home/user/forces.py:19', NULL, 'dot.6'),
(1, 7, 'reduce', 'f32[]', '6', NULL, 'main@/home/user/fit.py:20', 0, 'reduce.7');
INSERT INTO compile (process_id, ordinal, graph_id, cause, function, site_id, inferred) VALUES (1, 0, 1, 'call', 'train_step', 1, 0);
-- 10 executions of 1,000 us. Times are written as 1000 * microseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 10)
INSERT INTO execution (process_id, ordinal, graph_id, ts_ns, dur_ns, device, cause)
SELECT 1, i + 1, 1, 1000 * 1000 * i, 1000 * 1000, 'TPU:0', 'call' FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 10)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 2, 1000 * 1000 * i, 1000 * 1000, 'jit_train_step', 'module' FROM n;
-- The product in float64: its length is {product_us} us.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 10)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 3, 1000 * 1000 * i, 1000 * {product_us}, '%dot.6 = f64[576,128] dot(f64[576,32] %subtract.4, f64[32,128] %convert.5)', 'op' FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 10)
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 3, 1000 * (1000 * i + {product_us}), 1000 * (1000 - {product_us}), '%reduce.7 = f32[] reduce(f64[576,128] %dot.6)', 'op' FROM n;
