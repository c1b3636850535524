-- case just_fires weights=1
-- case just_does_not_fire weights=0
--
-- A program uses one tensor as the weight of its encoder and of its decoder, and then moves its
-- model to a device. The move makes two tensors of it.
--
-- Figure under test: {weights} weight(s) were tied before the move.
-- Threshold: there is none. Each weight that a move has untied is a warning.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a recording', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.xlaprof', 'recording', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO recording (process_id, ring, ring_key, ended, clock) VALUES (1, 'run.ring', '00', 1, 'tsc');
INSERT INTO site (id, function, file, line) VALUES (1, 'main', '/home/ana/train.cc', 31);
-- How many weights were tied before the move is the figure under test.
INSERT INTO untied_weight (process_id, ordinal, names, copies, bytes, device, site_id)
SELECT 1, 0, 'encoder.weight, decoder.weight', 2, 4000000, 'CPU:0', 1 LIMIT {weights};
