-- Two executions, for which nothing was compiled.

INSERT INTO run (id, label, selected, why) VALUES (1, 'two executions', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.log', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO execution (process_id, ordinal, cause, dur_ns) VALUES (1, 0, 'user_sync', 1000000), (1, 1, 'user_sync', 1000000);
