-- DistributedDataParallel is called inside of the compiled function. The graph ends in PyTorch's own file.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a trace', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'torch_trace.log', 'torch_trace', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'forward', '/home/ana/train.py', 12), (2, 'forward', '/home/ana/train.py', 14), (3, 'forward', '/home/ana/train.py', 15);
INSERT INTO compile (id, process_id, ordinal, ts_ns, dur_ns, dur_from, cause, function, site_id, inferred) VALUES
  (1, 1, 0, 0, 4000000000, 'log', 'compiled_function', 'forward', 1, 0),
  (2, 1, 1, 4100000000, 3000000000, 'log', 'compiled_function', 'torch_dynamo_resume_in_forward_at_14', 2, 0);
INSERT INTO site (id, function, file, line) VALUES (4, 'forward', '/opt/env/lib/python3.12/site-packages/torch/nn/parallel/distributed.py', 1528);
INSERT INTO stack (id, hash) VALUES (1, 'a');
INSERT INTO frame (stack_id, depth, function, file, line, owner) VALUES
  (1, 0, 'forward', '/opt/env/lib/python3.12/site-packages/torch/nn/parallel/distributed.py', 1528, 'torch'),
  (1, 1, 'train', '/home/ana/train.py', 40, 'user');
INSERT INTO graph_break (process_id, ordinal, function, site_id, stack_id, code, type, reason) VALUES (1, 0, 'train', 4, 1, 'gb0156', 'untraceable', 'Unsupported method call');
