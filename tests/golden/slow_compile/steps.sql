-- case just_fires_by_seconds compile_s=31 step_us=10000
-- case just_does_not_fire_by_seconds compile_s=29 step_us=10000
-- case just_fires_by_steps compile_s=40 step_us=39000
-- case just_does_not_fire_by_steps compile_s=40 step_us=41000
--
-- JAX logs the compilation of the function train_step, which takes {compile_s} s. A profile of later
-- steps shows how long a step takes.
--
-- Figure under test: a step takes {step_us} us.
-- Threshold: a compilation of more than 30 s is a warning, if it takes longer than 1,000 steps.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log and a profile', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'jax.log', 'jax_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO source (id, path, format, imported, kind) VALUES (2, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO compile (process_id, ordinal, cause, function, dur_ns, dur_from, inferred)
VALUES (1, 0, 'call', 'train_step', {compile_s} * 1000000000, 'log', 0);
-- Ten steps, which the profile times later. Times are written as 1000 * microseconds.
CREATE TEMP TABLE later AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
SELECT i, 1000 * {step_us} AS step_ns FROM n;
INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns)
SELECT i + 1, 1, i, 100 + i, 'train', step_ns * i, step_ns FROM later;
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, step_ns * i, step_ns, 'train', 'step' FROM later;
