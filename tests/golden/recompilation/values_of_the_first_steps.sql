-- torch.compile compiles three functions a second time in the second of eight steps: one for another
-- number, the rest of a function after a graph break for another container, and one for an input that
-- the first step made. Only the last one is what a clean program does.
--
-- Figure under test: the reasons and the functions.
-- Threshold: none. The advice that nothing needs to change is given for state that the first step made.

INSERT INTO run (id, label, selected, why) VALUES (1, '8 steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'torch_trace.log', 'torch_trace', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'scale', '/home/ana/fit.py', 12),
  (2, 'torch_dynamo_resume_in_clip_at_20', '/home/ana/fit.py', 20), (3, 'update', '/home/ana/fit.py', 31);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 7)
INSERT INTO step (id, process_id, ordinal) SELECT i + 1, 1, i FROM n;
-- Each function is compiled in steps 0 and 1. Times are written as 1000000 * milliseconds.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5)
INSERT INTO compile (id, process_id, ordinal, cause, function, site_id, step_id, dur_ns, dur_from, inferred)
SELECT i + 1, 1, i, 'compiled_function', (SELECT function FROM site WHERE id = 1 + i % 3), 1 + i % 3, 1 + i / 3,
  1000000 * 500, 'log', 0 FROM n;
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 7)
INSERT INTO execution (process_id, ordinal, cause, site_id, step_id) SELECT 1, 6 + i, 'compiled_function', 1, i + 1 FROM n;
-- The reasons and the functions are the figure under test.
INSERT INTO compile_reason (compile_id, idx, stated_by, type, input, before, after, text) VALUES
  (4, 0, 'guard', 'constant_change', 'limit', '0.5', '0.7', '0/0: limit == 0.5'),
  (5, 0, 'guard', 'input_structure_change', 'len(___stack0)', '2', '3', '1/0: len(___stack0) == 2'),
  (6, 0, 'guard', 'input_structure_change', 'len(state)', '0', '2', '2/0: len(state) == 0');
