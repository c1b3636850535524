-- case just_fires_by_metrics compile_s=121
-- case just_does_not_fire_by_metrics compile_s=119
--
-- A metrics report counts one compilation.
--
-- Figure under test: it takes {compile_s} s.
-- Threshold: a compilation of more than 120 s is a warning.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a report', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO metrics_report (id, source_id, process_id, ordinal) VALUES (1, 1, 1, 0);
INSERT INTO counter (report_id, name, value) VALUES (1, 'UncachedCompile', 1);
INSERT INTO metric (report_id, name, unit, samples, accumulator, text) VALUES (1, 'ExecuteTime', 'ns', 100, 1000000000000, '1000s');
-- How long it takes is the figure under test.
INSERT INTO metric (report_id, name, unit, samples, accumulator, text) VALUES (1, 'CompileTime', 'ns', 1, {compile_s} * 1000000000, '{compile_s}s');
