-- case just_fires_by_sixth_read reads=6
-- case just_does_not_fire_by_sixth_read reads=5
--
-- A program marks no step, and reads a value at several lines, at each of them once. The graph
-- grows by 100 nodes from read to read. That happens within one step, too, so few reads are only
-- information.
--
-- Figure under test: {reads} reads.
-- Threshold: from six reads on the growth is taken for that of a loop, which is a warning.

INSERT INTO run (id, label, selected, why) VALUES (1, 'no step mark', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.log', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
-- The number of reads is the figure under test.
CREATE TEMP TABLE reads AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) SELECT i FROM n LIMIT {reads};
INSERT INTO site (id, function, file, line) SELECT i, 'train', '/home/ana/fit.py', 30 + i FROM reads;
INSERT INTO graph (id, process_id, hash, node_count, printed_as) SELECT i, 1, 'graph ' || i, 100 * i, 'ir_text' FROM reads;
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id) SELECT 1, i, i, 'value_access', i FROM reads;
