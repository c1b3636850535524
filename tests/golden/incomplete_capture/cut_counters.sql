-- case just_fires_by_cut_counters counters=0
-- case just_does_not_fire_by_cut_counters counters=1
--
-- A metrics report was pasted without its end. The finding is only information.
--
-- Figure under test: the report holds {counters} counter(s).
-- Threshold: a report without a single counter seems to be cut.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a report', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'train', '/home/ana/fit.py', 31);
INSERT INTO metrics_report (id, source_id, process_id, ordinal) VALUES (1, 1, 1, 0);
INSERT INTO metric (report_id, name, unit, samples, accumulator, text) VALUES (1, 'ExecuteTime', 'ns', 100, 1000000000, '1s');
-- How many counters the report holds is the figure under test.
INSERT INTO counter (report_id, name, value) SELECT 1, 'CachedCompile', 100 LIMIT {counters};
