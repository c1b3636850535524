-- torch.compile's structured log: a function is compiled for the first time, in an empty cache. Most of the time is
-- code generation and the trials of the C++ compiler.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, framework, imported, kind) VALUES (1, 'trace.log', 'torch_trace', 'pytorch', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'step', 'train.py', 12);
INSERT INTO graph (id, process_id, number, name) VALUES (1, 1, '0/0', 'step');
INSERT INTO compile (id, process_id, ordinal, graph_id, cause, function, site_id, dur_ns, dur_from, inferred)
VALUES (1, 1, 0, 1, 'compiled_function', 'step', 1, 25 * 1000000000, 'log', 0);
INSERT INTO compile_phase (compile_id, phase, dur_ns) VALUES
  (1, 'dynamo', 400 * 1000000), (1, 'aot_autograd', 3600 * 1000000), (1, 'inductor', 1000 * 1000000),
  (1, 'code_generation', 11000 * 1000000), (1, 'toolchain_probe', 9000 * 1000000);
INSERT INTO cache_lookup (process_id, ordinal, compile_id, cache, result) VALUES (1, 1, 1, 'inductor', 'miss');
