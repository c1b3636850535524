-- One of everything that an export must hold, and what would break a careless one.
INSERT INTO meta (key, value) VALUES ('base_epoch_ns', '1766000000000000123'), ('run_label', 'every kind');
INSERT INTO run (id, label, started_epoch_ns, selected, why) VALUES (1, 'every kind', NULL, 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
-- Two ranks, of which the second has neither pid nor name; its host holds a quote.
INSERT INTO process (id, run_id, source_id, segment, host, pid, rank, name) VALUES (1, 1, 1, 0, 'vm-0', 4711, 0, 'python train.py'), (2, 1, 1, 0, 'vm "1"', NULL, 1, NULL);
INSERT INTO track (id, process_id, kind, name, tid, device, parent_id, sort) VALUES
  (1, 1, 'host_thread', 'main', 4711, NULL, NULL, 0),
  (2, 1, 'host_thread', 'Grüße, 世界', -7905384911993043700, NULL, NULL, 1),
  (3, 1, 'device', 'TPU:0', NULL, 'TPU:0', NULL, 10),
  (4, 1, 'device_stream', 'XLA Modules', 2, 'TPU:0', 3, 11),
  (5, 1, 'device_stream', 'Async XLA Ops', 4, 'TPU:0', 3, 12),
  (6, 2, 'host_thread', 'main', 4711, NULL, NULL, 0),
  (7, 2, 'device_stream', 'XLA Modules', 2, 'TPU:0', NULL, 11),
  (8, 1, 'counter', 'memory', NULL, NULL, NULL, 20),
  (9, 1, 'counter', 'memory', NULL, NULL, NULL, 21),
  (10, 1, 'async', 'requests', NULL, NULL, NULL, 30),
  (11, NULL, 'host_thread', 'of no process', 0, NULL, NULL, 40);

-- Nested; equal extents; ends that touch; an instant inside, one at an end; one that never ended.
INSERT INTO event (id, track_id, ts_ns, dur_ns, name, category) VALUES
  (1, 1, 0, 1000000, 'step', 'step'), (2, 1, 1000, 998999, 'inner', 'scope'), (3, 1, 1000, 998999, 'inner', 'scope'),
  (4, 1, 500000, 0, 'instant', 'host'), (5, 1, 1000000, 0, 'at the end', NULL), (6, 1, 1000000, 1, 'one ns', 'host'),
  (7, 1, 1000001, 2, 'touches', 'host'), (8, 1, 2000000, NULL, 'never ended', 'host'), (9, 1, 2000001, 5, 'inside it', 'host');
-- Text: quotes, backslashes, control characters, invalid UTF-8, code points beyond 16 bits, none.
INSERT INTO event (id, track_id, ts_ns, dur_ns, name, category) VALUES
  (20, 2, 100, 10, 'say "hi" \ and' || char(10, 9, 13, 27, 0x7f) || '.', 'host'), (21, 2, 200, 10, CAST(x'61ff62e28280c328eda080f09f' AS TEXT), 'host'),
  (22, 2, 300, 10, '🙂 → ' || char(0x85, 0x202e, 0xfeff), 'host'), (23, 2, 400, 10, '', 'host'), (24, 2, 9007199254740, 1, 'late', 'host');
-- A device, with flows from the host: one to one, one to many, many to one, backwards, from and to nowhere.
INSERT INTO event (id, track_id, ts_ns, dur_ns, name, category, flow_in, flow_out) VALUES
  (30, 6, 10, 5, 'launch', 'execute', NULL, 77), (31, 6, 20, 5, 'launch', 'execute', NULL, -1), (32, 6, 30, 5, 'launch', 'execute', NULL, 5),
  (33, 6, 40, 5, 'launch', 'execute', NULL, 5), (34, 6, 200, 5, 'late launch', 'execute', NULL, 6), (35, 6, 210, 5, 'launch', 'execute', NULL, 8),
  (40, 7, 15, 5, 'module', 'module', 77, NULL), (41, 7, 50, 30, 'module', 'module', -1, NULL), (42, 7, 50, 10, 'op', 'op', -1, NULL),
  (43, 7, 90, 5, 'module', 'module', 5, NULL), (44, 7, 100, 5, 'module', 'module', 6, NULL), (45, 7, 110, 0, 'mark', NULL, 5, NULL),
  (46, 7, 120, 5, 'module', 'module', 9, NULL);
-- Overlaps: three at once, one that nests in the second.
INSERT INTO event (id, track_id, ts_ns, dur_ns, name, category) VALUES
  (50, 5, 0, 100, 'copy-start.1', 'async_op'), (51, 5, 50, 100, 'copy-start.2', 'async_op'), (52, 5, 60, 20, 'in both', 'async_op'),
  (53, 5, 70, 100, 'copy-start.3', 'async_op'), (54, 5, 90, 50, 'in the second', 'async_op'), (55, 5, 170, 10, 'copy-start.4', 'async_op');
INSERT INTO event (id, track_id, ts_ns, dur_ns, name, category) VALUES (60, 4, 5, 20, 'jit_train', 'module'), (70, 11, 5, 1, 'alone', NULL);
-- No thread's: overlapping, an instant, one that never ended.
INSERT INTO event (id, track_id, ts_ns, dur_ns, name, category) VALUES
  (80, 10, 0, 100, 'GET', 'host'), (81, 10, 50, 100, 'GET', 'host'), (82, 10, 60, 0, 'retry', 'host'), (83, 10, 70, NULL, 'PUT', NULL);

INSERT INTO arg (event_id, key, type, value) VALUES
  (1, 'step_num', 'int', 0), (1, 'largest', 'int', 9223372036854775807), (1, 'smallest', 'int', '-9223372036854775808'),
  (1, 'exact', 'int', 9007199254740992), (1, 'not exact', 'int', 9007199254740993), (1, 'hash', 'uint', '18446744073709551615'),
  (1, 'half', 'double', 0.5), (1, 'whole', 'double', 3.0), (1, 'infinite', 'double', 9e999), (1, 'tiny', 'double', 5e-324),
  (1, 'text', 'string', 'a "b"' || char(10) || 'c'), (1, 'raw', 'bytes', x'00ff10'), (1, 'key "quoted"', 'string', ''),
  (2, 'same', 'int', 1), (2, 'same', 'int', 2), (60, 'flops', 'uint', 12000000000), (60, 'long_name', 'string', '%fusion = f32[8]{0} fusion(...)');

INSERT INTO counter_sample VALUES (8, 0, 1), (8, 1500, 2.5), (8, 3000, -1e300), (9, 0, 9e999), (9, 10, 4);

INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns) VALUES (1, 1, 0, 7, 'train', 0, 1000000), (2, 1, 1, 8, 'train', 900000, 1000000), (3, 2, 0, NULL, NULL, 10, NULL),
  (4, 1, 2, NULL, NULL, NULL, NULL);
