-- case just_fires_by_start_up helper_us=49000
-- case just_does_not_fire_by_start_up helper_us=51000
--
-- A program loads its weights with a small helper program, prepares its data for a while, and then
-- runs its main program without a pause. No step is marked. The finding is only information,
-- because a start is paid once.
--
-- Figure under test: the helper runs for {helper_us} us, and the device idles until the main program
-- begins at 100,000 us, of 1,000,000 us that it is seen.
-- Threshold: idle time before the steady part is mentioned from 5 % of the whole time on.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a start', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'python', 0);
INSERT INTO track (id, process_id, kind, name, device, sort) VALUES (2, 1, 'device_stream', 'XLA Modules', 'TPU:0', 1);
-- Times are written as 1000 * microseconds.
INSERT INTO event (track_id, ts_ns, dur_ns, name, category) VALUES (1, 0, 1000 * 1000000, 'main', 'scope');
-- The helper's length is the figure under test: what is left until the main program begins is idle.
INSERT INTO event (track_id, ts_ns, dur_ns, name, category) VALUES
  (2, 0, 1000 * {helper_us}, 'jit_load_weights', 'module'),
  (2, 1000 * 100000, 1000 * 900000, 'jit_train', 'module');
