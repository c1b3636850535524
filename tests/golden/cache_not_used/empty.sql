-- A program whose log says nothing of a cache.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'jax.log', 'jax_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO compile (process_id, ordinal, cause, function, dur_ns, dur_from, inferred) VALUES (1, 0, 'call', 'train_step', 50000000000, 'log', 0);
