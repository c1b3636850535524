-- A recording of 21 steps. The first one compiles for 2 s, and each of the others takes 10 ms.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a log of compilations', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'run.xlaprof', 'recording', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO recording (process_id, ring, ring_key, ended, clock) VALUES (1, 'run.ring', '00', 1, 'tsc');
INSERT INTO step (process_id, ordinal, ts_ns, dur_ns) VALUES (1, 0, 0, 2500 * 1000000);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
INSERT INTO step (process_id, ordinal, ts_ns, dur_ns) SELECT 1, i, (2490 + 10 * i) * 1000000, 10 * 1000000 FROM n;
INSERT INTO compile (process_id, ordinal, cause, function, ts_ns, dur_ns, dur_from, inferred)
VALUES (1, 0, 'user_sync', 'train', 100 * 1000000, 2000 * 1000000, 'log', 0);
