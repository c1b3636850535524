-- A function reads a tensor's value at one line and branches on one at the next. Each compilation met both again.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a trace', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'torch_trace.log', 'torch_trace', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'forward', '/home/ana/train.py', 12), (2, 'forward', '/home/ana/train.py', 14), (3, 'forward', '/home/ana/train.py', 15);
INSERT INTO compile (id, process_id, ordinal, ts_ns, dur_ns, dur_from, cause, function, site_id, inferred) VALUES
  (1, 1, 0, 0, 4000000000, 'log', 'compiled_function', 'forward', 1, 0),
  (2, 1, 1, 4100000000, 3000000000, 'log', 'compiled_function', 'torch_dynamo_resume_in_forward_at_14', 2, 0);
INSERT INTO graph_break (process_id, ordinal, function, site_id, code, type, reason, hint) VALUES (1, 0, 'forward', 2, 'gb0124', 'value_access', 'Unsupported Tensor.item() call with capture_scalar_outputs=False', 'Set `torch._dynamo.config.capture_scalar_outputs = True`.');
INSERT INTO graph_break (process_id, ordinal, function, site_id, code, type, reason, hint) VALUES (1, 1, 'forward', 2, 'gb0124', 'value_access', 'Unsupported Tensor.item() call with capture_scalar_outputs=False', 'Set `torch._dynamo.config.capture_scalar_outputs = True`.');
INSERT INTO graph_break (process_id, ordinal, function, site_id, code, type, reason, hint) VALUES (1, 2, 'forward', 3, 'gb0170', 'data_dependent_branch', 'Data-dependent branching', 'Use `torch.cond` to express dynamic control flow.');
