-- A job of three ranks that executed nothing.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a job', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'rank0.xlaprof', 'recording', 1, 'timed'), (2, 'rank1.xlaprof', 'recording', 1, 'timed'), (3, 'rank2.xlaprof', 'recording', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host, pid, rank) VALUES (1, 1, 1, 0, 'vm', 100, 0), (2, 1, 2, 0, 'vm', 101, 1), (3, 1, 3, 0, 'vm', 102, 2);
INSERT INTO recording (process_id, ring, ring_key, ended, clock) VALUES (1, 'a.ring', '00', 1, 'tsc'), (2, 'b.ring', '01', 1, 'tsc'), (3, 'c.ring', '02', 1, 'tsc');
INSERT INTO site (id, function, file, line) VALUES (1, 'Train', '/home/ana/train.cc', 31);
