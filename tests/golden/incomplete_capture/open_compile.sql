-- case just_fires_by_open_compile passes_ms=1002 profile_ms=30000 pipelines=3
-- case just_does_not_fire_by_open_compile passes_ms=996 profile_ms=30000 pipelines=3
-- case just_fires_by_share_of_profile passes_ms=1002 profile_ms=2000 pipelines=3
-- case just_does_not_fire_by_share_of_profile passes_ms=1002 profile_ms=2020 pipelines=3
-- case just_fires_by_third_pipeline passes_ms=3000 profile_ms=9000 pipelines=3
-- case just_does_not_fire_by_third_pipeline passes_ms=3000 profile_ms=9000 pipelines=2
--
-- A profile was taken while XLA compiled, and shows only passes of the compilation.
--
-- Figure under test: {pipelines} pipelines of passes take {passes_ms} ms (a third each) of {profile_ms} ms.
-- Threshold: three pipelines are a compilation, which is reported from 1 s on, and is a warning from half
-- of the profile on.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a profile', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'vm.xplane.pb', 'xspace', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO track (id, process_id, kind, name, sort) VALUES (1, 1, 'host_thread', 'compiler', 0), (2, 1, 'host_thread', 'python', 1);
-- Times are written as 1000000 * milliseconds.
INSERT INTO event (track_id, ts_ns, dur_ns, name, category) VALUES (2, 0, 1000000 * {profile_ms}, 'sleep', 'host');
WITH pass(i, name) AS (VALUES (0, 'HLO passes through layout assignment'), (1, 'simplification'), (2, 'fusion'))
INSERT INTO event (track_id, ts_ns, dur_ns, name, category)
SELECT 1, 1000000 * (100 + {passes_ms} / 3 * i), 1000000 * ({passes_ms} / 3), name || ' (jit_step)', 'host' FROM pass WHERE i < {pipelines};
