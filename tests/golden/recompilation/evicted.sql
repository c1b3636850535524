-- case just_fires_by_evicted_graph others=2048
-- case just_does_not_fire_by_evicted_graph others=2047
--
-- A program compiles one graph, then others, and then the first one again, which its log shows.
--
-- Figure under test: {others} other graphs are compiled in between.
-- Threshold: a graph that comes again after 2,048 others was evicted from torch_xla's cache.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.log', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'train', '/home/ana/fit.py', 31);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {others})
INSERT INTO graph (id, process_id, hash) SELECT i + 1, 1, printf('%x', 4096 + i) FROM n;
INSERT INTO compile (process_id, ordinal, graph_id, cause, site_id, inferred) SELECT 1, id - 1, id, 'user_sync', 1, 0 FROM graph;
INSERT INTO compile (process_id, ordinal, graph_id, cause, site_id, inferred) VALUES (1, 1 + {others}, 1, 'user_sync', 1, 0);
