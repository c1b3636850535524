-- The reader of a loader for one device was used up by the first of three epochs.
--
-- Figure under test: the other epochs have 0 batches.
-- Threshold: there is none. Each epoch without a step is a warning.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a recording', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.xlaprof', 'recording', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO recording (process_id, ring, ring_key, ended, clock) VALUES (1, 'run.ring', '00', 1, 'tsc');
INSERT INTO site (id, function, file, line) VALUES (1, 'Train', '/home/ana/train.cc', 31);
-- How many batches the later epochs have is the figure under test.
INSERT INTO loader_epoch (process_id, ordinal, devices, batches, dropped, site_id)
VALUES (1, 0, 1, 400, 0, 1), (1, 1, 1, 0, 0, 1), (1, 2, 1, 0, 0, 1);
