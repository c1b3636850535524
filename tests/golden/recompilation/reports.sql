-- case just_fires_by_quiet_part samples=(25,4),(50,8),(76,12),(100,12)
-- case just_does_not_fire_by_quiet_part samples=(25,4),(50,8),(75,12),(100,12)
-- case just_fires_by_several_reports samples=(25,4),(50,8),(75,10),(100,12)
-- case just_does_not_fire_by_several_reports samples=(25,4),(50,8),(100,12)
--
-- A training of 100 steps, each of one execution, prints metrics reports, which count compilations.
--
-- Figure under test: after so many steps, there are so many compilations: {samples}.
-- Threshold: compilations have stopped if their number did not rise in the last quarter of the steps.
-- Four reports show whether they go on.

INSERT INTO run (id, label, selected, why) VALUES (1, '100 steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
CREATE TEMP TABLE sample AS SELECT row_number() OVER () AS id, column1 AS steps, column2 AS compiles FROM (VALUES {samples});
INSERT INTO metrics_report (id, source_id, process_id, ordinal, mark_step) SELECT id, 1, 1, id - 1, steps FROM sample;
INSERT INTO counter (report_id, name, value) SELECT id, 'MarkStep', steps FROM sample;
INSERT INTO metric (report_id, name, unit, samples, accumulator, text)
SELECT id, 'ExecuteTime', 'ns', steps, 1000000000 * steps, '' FROM sample UNION ALL
SELECT id, 'CompileTime', 'ns', compiles, 1000000000 * compiles, '' FROM sample;
