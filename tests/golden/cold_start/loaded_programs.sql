-- JAX loads two programs from its persistent cache.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, framework, imported, kind) VALUES (1, 'jax.log', 'jax_log', 'jax', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO compile (process_id, ordinal, cause, function, dur_ns, dur_from, persistent_hit, inferred) VALUES
  (1, 0, 'call', 'train_step', 900 * 1000000, 'log', 1, 0), (1, 1, 'call', 'evaluate', 100 * 1000000, 'log', 1, 0);
