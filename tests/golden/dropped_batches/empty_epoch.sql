-- case just_fires_by_empty_epoch batches=3
-- case just_does_not_fire_by_one_batch batches=4
--
-- The second of two epochs on four devices may have fewer batches than devices.
--
-- Figure under test: {batches} batches are there for 4 devices.
-- Threshold: there is none. Each epoch without a step is a warning.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a recording', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.xlaprof', 'recording', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO recording (process_id, ring, ring_key, ended, clock) VALUES (1, 'run.ring', '00', 1, 'tsc');
INSERT INTO site (id, function, file, line) VALUES (1, 'Train', '/home/ana/train.cc', 31);
-- How many batches the second epoch has is the figure under test.
INSERT INTO loader_epoch (process_id, ordinal, devices, batches, dropped, site_id)
VALUES (1, 0, 4, 400, 0, 1), (1, 1, 4, {batches}, {batches} % 4, 1);
