-- This debug log has two steps and nothing else, so there is nothing whose gaps could be reported.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.log', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO step (id, process_id, ordinal) VALUES (1, 1, 0), (2, 1, 1);
