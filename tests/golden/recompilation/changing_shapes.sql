-- Six steps cut at fit.py:31; from the third on every step brings another sequence length, and a new graph.
INSERT INTO meta (key, value) VALUES ('run_label', 'six steps');
INSERT INTO run (id, label, started_epoch_ns, selected, why) VALUES (1, 'six steps', NULL, 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'graphs.txt', 'ir_dump', 1, 'executed');
INSERT INTO process (id, run_id, source_id, segment, host, pid, rank, name) VALUES (1, 1, 1, 0, NULL, NULL, NULL, NULL);
INSERT INTO site (id, function, file, line) VALUES (1, 'train', '/home/ana/fit.py', 31);
INSERT INTO stack (id, hash) VALUES (1, 's');
INSERT INTO frame (stack_id, depth, function, file, line, owner) VALUES (1, 0, 'train', '/home/ana/fit.py', 31, 'user');
INSERT INTO graph (id, process_id, hash, name, program_id, node_count, input_count, output_count, printed_as) VALUES (1, 1, 'aa', NULL, NULL, 3, NULL, 1, 'ir_text'), (2, 1, 'bb', NULL, NULL, 3, NULL, 1, 'ir_text'),
                         (3, 1, 'cc', NULL, NULL, 3, NULL, 1, 'ir_text'), (4, 1, 'dd', NULL, NULL, 3, NULL, 1, 'ir_text');
INSERT INTO graph_node (graph_id, idx, op, shape, operands, attributes, scope, location, root, name, computation) VALUES
  (1, 0, 'xla::device_data', 's64[8,128]', '', NULL, NULL, 'train@fit.py:24', NULL, '0', NULL),
  (1, 1, 'xla::device_data', 'f32[900,64]', '', NULL, NULL, 'convert@module.py:1357', NULL, '1', NULL),
  (1, 2, 'aten::embedding', 'f32[8,128,64]', '1,0', NULL, NULL, 'forward@sparse.py:190', 0, '2', NULL),
  (2, 0, 'xla::device_data', 's64[8,96]', '', NULL, NULL, 'train@fit.py:24', NULL, '0', NULL),
  (2, 1, 'xla::device_data', 'f32[900,64]', '', NULL, NULL, 'convert@module.py:1357', NULL, '1', NULL),
  (2, 2, 'aten::embedding', 'f32[8,96,64]', '1,0', NULL, NULL, 'forward@sparse.py:190', 0, '2', NULL),
  (3, 0, 'xla::device_data', 's64[8,71]', '', NULL, NULL, 'train@fit.py:24', NULL, '0', NULL),
  (3, 1, 'xla::device_data', 'f32[900,64]', '', NULL, NULL, 'convert@module.py:1357', NULL, '1', NULL),
  (3, 2, 'aten::embedding', 'f32[8,71,64]', '1,0', NULL, NULL, 'forward@sparse.py:190', 0, '2', NULL),
  (4, 0, 'xla::device_data', 's64[8,50]', '', NULL, NULL, 'train@fit.py:24', NULL, '0', NULL),
  (4, 1, 'xla::device_data', 'f32[900,64]', '', NULL, NULL, 'convert@module.py:1357', NULL, '1', NULL),
  (4, 2, 'aten::embedding', 'f32[8,50,64]', '1,0', NULL, NULL, 'forward@sparse.py:190', 0, '2', NULL);
INSERT INTO step (id, process_id, ordinal) VALUES (1, 1, 0), (2, 1, 1), (3, 1, 2), (4, 1, 3), (5, 1, 4), (6, 1, 5);
INSERT INTO compile (process_id, ordinal, graph_id, cause, site_id, stack_id, step_id, inferred) VALUES
  (1, 0, 1, 'user_sync', 1, 1, 1, 1), (1, 3, 2, 'user_sync', 1, 1, 3, 1), (1, 5, 3, 'user_sync', 1, 1, 4, 1), (1, 8, 4, 'user_sync', 1, 1, 6, 1);
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id, stack_id, step_id) VALUES
  (1, 1, 1, 'user_sync', 1, 1, 1), (1, 2, 1, 'user_sync', 1, 1, 2), (1, 4, 2, 'user_sync', 1, 1, 3), (1, 6, 3, 'user_sync', 1, 1, 4),
  (1, 7, 3, 'user_sync', 1, 1, 5), (1, 9, 4, 'user_sync', 1, 1, 6);
