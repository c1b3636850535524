-- A log with three steps, and no execution in any of them.

INSERT INTO run (id, label, selected, why) VALUES (1, 'three steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.log', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO step (id, process_id, ordinal) VALUES (1, 1, 0), (2, 1, 1), (3, 1, 2);
