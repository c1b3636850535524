-- case just_fires_by_new_graphs executions=20 compilations=10 compile_ms=1000
-- case just_does_not_fire_by_new_graphs executions=21 compilations=10 compile_ms=1000
-- case just_fires_by_tenth_new_graph executions=12 compilations=10 compile_ms=1000
-- case just_does_not_fire_by_tenth_new_graph executions=12 compilations=9 compile_ms=1000
-- case just_fires_by_many_graphs executions=900 compilations=50 compile_ms=5000
-- case just_does_not_fire_by_many_graphs executions=900 compilations=49 compile_ms=5000
-- case just_fires_by_time_of_graphs executions=900 compilations=50 compile_ms=510
-- case just_does_not_fire_by_time_of_graphs executions=900 compilations=50 compile_ms=490
--
-- A metrics report counts executions and compilations, but no steps.
--
-- Figure under test: {compilations} compilations of {compile_ms} ms each for {executions} executions, which take 100 s.
-- Threshold: ten compilations are a warning if half of the executions have a new graph. From 50 on, they
-- are one if compiling takes 20 % of compiling and executing.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a report', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO metrics_report (id, source_id, process_id, ordinal) VALUES (1, 1, 1, 0);
INSERT INTO metric (report_id, name, unit, samples, accumulator, text) VALUES (1, 'ExecuteTime', 'ns', {executions}, 100000000000, '100s');
-- Compilations and their time are the figures under test.
INSERT INTO metric (report_id, name, unit, samples, accumulator, text) VALUES (1, 'CompileTime', 'ns', {compilations}, {compilations} * {compile_ms} * 1000000, '');
