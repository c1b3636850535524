-- A program without a loader.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a recording', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.xlaprof', 'recording', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO recording (process_id, ring, ring_key, ended, clock) VALUES (1, 'run.ring', '00', 1, 'tsc');
INSERT INTO site (id, function, file, line) VALUES (1, 'Train', '/home/ana/train.cc', 31);
INSERT INTO step (id, process_id, ordinal) VALUES (1, 1, 0);
