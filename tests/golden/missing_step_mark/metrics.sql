-- case just_fires_by_metrics operations=1000
-- case just_does_not_fire_by_metrics operations=999
--
-- A metrics report counts traced operations, and its counters show no step mark.
--
-- Figure under test: {operations} traced operations.
-- Threshold: a warning from 1,000 traced operations on. Fewer may be code that sets the program up.

INSERT INTO run (id, label, selected, why) VALUES (1, 'no step mark', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO metrics_report (id, source_id, process_id, ordinal) VALUES (1, 1, 1, 0);
INSERT INTO counter (report_id, name, value) VALUES (1, 'CreateDataHandles', 50);
INSERT INTO metric (report_id, name, unit, samples, accumulator, text) VALUES (1, 'ExecuteTime', 'ns', 4, 1000000000, '1s');
-- The number of traced operations is the figure under test.
INSERT INTO metric (report_id, name, unit, samples, accumulator, text) VALUES (1, 'LazyTracing', 'ns', {operations}, 100000000, '100ms');
