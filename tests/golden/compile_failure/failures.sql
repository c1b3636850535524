-- case just_fires failures=1
-- case just_does_not_fire failures=0
--
-- torch.compile could not compile a function, or it could.
--
-- Figure under test: {failures} compilation(s) failed.
-- Threshold: there is none. A function that cannot be compiled is a warning.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a trace', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'torch_trace.log', 'torch_trace', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'forward', '/home/ana/train.py', 12), (2, 'forward', '/home/ana/train.py', 14), (3, 'forward', '/home/ana/train.py', 15);
INSERT INTO compile (id, process_id, ordinal, ts_ns, dur_ns, dur_from, cause, function, site_id, inferred) VALUES
  (1, 1, 0, 0, 4000000000, 'log', 'compiled_function', 'forward', 1, 0),
  (2, 1, 1, 4100000000, 3000000000, 'log', 'compiled_function', 'torch_dynamo_resume_in_forward_at_14', 2, 0);
-- How many compilations failed is the figure under test.
INSERT INTO compile_failure (process_id, ordinal, function, site_id, failed_site_id, ts_ns, dur_ns, error, type, reason, hint, text) SELECT 1, 0, 'forward', 1, 2, 8000000000, 160000000, 'Unsupported', 'data_dependent_branch', 'Data-dependent branching',
  'Use `torch.cond` to express dynamic control flow.', 'Data-dependent branching
  Explanation: Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`).
  Hint: Use `torch.cond` to express dynamic control flow.' LIMIT {failures};
