-- A backend without a kernel fails twice, Inductor finds no compiler, and Dynamo cannot trace a call.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a trace', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'torch_trace.log', 'torch_trace', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'forward', '/home/ana/train.py', 12), (2, 'forward', '/home/ana/train.py', 14), (3, 'forward', '/home/ana/train.py', 15);
INSERT INTO compile (id, process_id, ordinal, ts_ns, dur_ns, dur_from, cause, function, site_id, inferred) VALUES
  (1, 1, 0, 0, 4000000000, 'log', 'compiled_function', 'forward', 1, 0),
  (2, 1, 1, 4100000000, 3000000000, 'log', 'compiled_function', 'torch_dynamo_resume_in_forward_at_14', 2, 0);
INSERT INTO compile_failure (process_id, ordinal, function, site_id, failed_site_id, ts_ns, dur_ns, error, type, reason, hint, text) SELECT 1, 0, 'forward', 1, NULL, 8000000000, 140000000, 'BackendCompilerFailed', 'backend_error',
  'backend=''bad_backend'' raised: RuntimeError: this backend has no kernel for you', NULL, 'backend=''bad_backend'' raised:
RuntimeError: this backend has no kernel for you' LIMIT 1;
INSERT INTO compile_failure (process_id, ordinal, function, site_id, failed_site_id, ts_ns, dur_ns, error, type, reason, hint, text) SELECT 1, 1, 'forward', 1, NULL, 8000000000, 140000000, 'BackendCompilerFailed', 'backend_error',
  'backend=''bad_backend'' raised: RuntimeError: this backend has no kernel for you', NULL, 'backend=''bad_backend'' raised:
RuntimeError: this backend has no kernel for you' LIMIT 1;
INSERT INTO compile_failure (process_id, ordinal, function, site_id, failed_site_id, ts_ns, dur_ns, error, type, reason, hint, text) SELECT 1, 2, 'loss', 1, NULL, 8000000000, 3450000000, 'InductorError', 'no_compiler',
  'InvalidCxxCompiler: No working C++ compiler found in torch._inductor.config.cpp.cxx: (''/nonexistent/g++'',)', NULL, 'InvalidCxxCompiler: No working C++ compiler found in torch._inductor.config.cpp.cxx: (''/nonexistent/g++'',)' LIMIT 1;
INSERT INTO compile_failure (process_id, ordinal, function, site_id, failed_site_id, ts_ns, dur_ns, error, type, reason, hint, text) SELECT 1, 3, 'report', 1, 3, 8000000000, 20000000, 'Unsupported', 'untraceable',
  'Attempted to call function marked as skipped', 'Avoid calling the function `open`.', 'Attempted to call function marked as skipped
  Hint: Avoid calling the function `open`.' LIMIT 1;
