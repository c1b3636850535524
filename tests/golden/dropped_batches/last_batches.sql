-- case just_fires batches=59
-- case just_does_not_fire batches=63
--
-- A program trains three epochs on four devices. Its loader drops the last batches of each.
--
-- Figure under test: 3 of {batches} batches are dropped in each epoch.
-- Threshold: it is a warning from 5 % of the batches on.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a recording', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.xlaprof', 'recording', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO recording (process_id, ring, ring_key, ended, clock) VALUES (1, 'run.ring', '00', 1, 'tsc');
INSERT INTO site (id, function, file, line) VALUES (1, 'Train', '/home/ana/train.cc', 31);
-- How many batches are dropped is the figure under test.
INSERT INTO loader_epoch (process_id, ordinal, devices, batches, dropped, site_id)
VALUES (1, 0, 4, {batches}, 3, 1), (1, 1, 4, {batches}, 3, 1), (1, 2, 4, {batches}, 3, 1);
