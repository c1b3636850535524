-- case just_fires_by_alarm folding_ms=10100
-- case just_does_not_fire_by_alarm folding_ms=9900
--
-- XLA complains in its log that it computes a constant while it compiles. Another log times a
-- compilation.
--
-- Figure under test: that takes {folding_ms} ms.
-- Threshold: what XLA complains of is a warning from 10 s on, and information below.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of XLA', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.log', 'xla_log', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
-- How long it takes is the figure under test.
INSERT INTO compile_alarm (process_id, ordinal, operation, subject, op, shape, dur_ns, text)
VALUES (1, 0, 'constant_folding', 'reduce-window.3', 'reduce-window', 's32[625000,16]', {folding_ms} * 1000000, 'reduce-window.3');
-- A log times another compilation. Without it, XLA's complaint would be all that is known, and a warning.
INSERT INTO compile (process_id, ordinal, cause, function, dur_ns, dur_from, inferred)
VALUES (1, 1, 'call', 'train_step', 1000000000, 'log', 0);
