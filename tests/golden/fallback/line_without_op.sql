-- case just_fires_by_line_without_op calls=3
-- case just_does_not_fire_by_line_without_op calls=2
--
-- At its exit torch_xla prints how often a line called ops that run on the CPU, with the stack of
-- the calls. It does not name the op.
--
-- Figure under test: {calls} calls of the line.
-- Threshold: where the number of steps is not known, three calls are a warning.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a summary', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'calls.txt', 'fn_tracker', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'train', '/home/ana/fit.py', 31);
INSERT INTO stack (id, hash) VALUES (1, 's');
INSERT INTO frame (stack_id, depth, function, file, line, owner) VALUES (1, 0, 'train', '/home/ana/fit.py', 31, 'user');
-- The number of calls is the figure under test.
INSERT INTO fallback (process_id, count, site_id, stack_id) VALUES (1, {calls}, 1, 1);
