-- case just_fires_by_count rows=1048576
-- case just_does_not_fire_by_count rows=1048575
--
-- A dump of XLA shows a program that updates rows of a table. Nothing shows its executions.
--
-- Figure under test: the table has {rows} rows of 64 numbers of 4 bytes.
-- Threshold: copies without times are information from 268 MB (1,048,576 rows) in each execution on.

INSERT INTO run (id, label, selected, why) VALUES (1, 'updates', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'dump/module_0001.jit_update.cpu_after_optimizations.txt', 'xla_dump', 1, 'compiled');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'main', '/home/user/train.py', 12);
-- The program updates rows of a table and returns it.
INSERT INTO graph (id, process_id, name, program_id, printed_as) VALUES (1, 1, 'jit_update', 7, 'hlo_optimized');
INSERT INTO graph_node (graph_id, idx, op, shape, operands, attributes, root, name) VALUES
(1, 0, 'parameter', 'f32[{rows},64]{1,0}', '', 'parameter=0, argument="table"', NULL, 'table.1'),
(1, 1, 'parameter', 's32[8]{0}', '', 'parameter=1, argument="rows"', NULL, 'rows.1'),
(1, 2, 'copy', 'f32[{rows},64]{1,0}', '0', NULL, NULL, 'copy.3'),
(1, 3, 'fusion', 'f32[{rows},64]{1,0}', '2,1', 'kind=kLoop', 0, 'scatter_fusion');
INSERT INTO compile (process_id, ordinal, graph_id, cause, function, site_id, inferred) VALUES (1, 0, 1, 'call', 'update', 1, 0);
