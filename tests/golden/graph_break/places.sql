-- case just_fires places=2
-- case just_does_not_fire places=1
--
-- torch.compile compiled a function in two parts, because it calls a logger in the middle.
--
-- Figure under test: the graph ends at {places} place(s).
-- Threshold: from 2 places on (kManyGraphBreaks), it is a warning.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a trace', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'torch_trace.log', 'torch_trace', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'forward', '/home/ana/train.py', 12), (2, 'forward', '/home/ana/train.py', 14), (3, 'forward', '/home/ana/train.py', 15);
INSERT INTO compile (id, process_id, ordinal, ts_ns, dur_ns, dur_from, cause, function, site_id, inferred) VALUES
  (1, 1, 0, 0, 4000000000, 'log', 'compiled_function', 'forward', 1, 0),
  (2, 1, 1, 4100000000, 3000000000, 'log', 'compiled_function', 'torch_dynamo_resume_in_forward_at_14', 2, 0);
-- How many places end the graph is the figure under test.
INSERT INTO graph_break (process_id, ordinal, function, site_id, code, type, reason, hint)
SELECT 1, id - 2, 'forward', id, 'gb0059', 'untraceable', 'Failed to trace builtin operator', 'Avoid calling builtin `print` with these argument types.' FROM site WHERE id BETWEEN 2 AND 1 + {places};
