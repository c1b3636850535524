-- case just_fires_by_counts steps=40 compilations=5 compile_ms=1000
-- case just_does_not_fire_by_counts steps=40 compilations=4 compile_ms=1000
-- case just_fires_by_rate_of_counts steps=100 compilations=6 compile_ms=1000
-- case just_does_not_fire_by_rate_of_counts steps=100 compilations=5 compile_ms=1000
-- case just_fires_by_time_of_counts steps=1000 compilations=13 compile_ms=1950
-- case just_does_not_fire_by_time_of_counts steps=1000 compilations=13 compile_ms=1900
-- case just_fires_by_many_counts steps=1000 compilations=13 compile_ms=5000
-- case just_does_not_fire_by_many_counts steps=1000 compilations=12 compile_ms=5000
--
-- A metrics report of {steps} steps, each of one execution, counts compilations. A clean program makes
-- three: in its first step, in its second, and one to set up.
--
-- Figure under test: {compilations} compilations of {compile_ms} ms in {steps} steps, which execute for 100 s.
-- Threshold: two more than a clean program makes, here five, are a warning, if there is more than one
-- compilation in 20 steps. At a lower rate, ten more are, if compiling takes 20 % of compiling and
-- executing.

INSERT INTO run (id, label, selected, why) VALUES (1, '{steps} steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO metrics_report (id, source_id, process_id, ordinal, mark_step) VALUES (1, 1, 1, 0, {steps});
INSERT INTO counter (report_id, name, value) VALUES (1, 'MarkStep', {steps});
INSERT INTO metric (report_id, name, unit, samples, accumulator, text) VALUES (1, 'ExecuteTime', 'ns', {steps}, 100000000000, '100s');
-- The number of compilations is the figure under test.
INSERT INTO metric (report_id, name, unit, samples, accumulator, text) VALUES (1, 'CompileTime', 'ns', {compilations}, {compilations} * {compile_ms} * 1000000, '');
