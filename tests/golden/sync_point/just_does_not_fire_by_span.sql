-- A metrics report that was cut has neither steps nor executions. It counts 36 fetches, whose sum is
-- 117 ms. Their rate says that they are spread over 37.5 s.
--
-- Figure under test: the fetches take 0.3 % of the time that they are spread over.
-- Threshold: reads that are not known to be in each step are a warning from 1 % on.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a cut report', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'report.txt', 'metrics_report', 1, 'reports');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO metrics_report (id, source_id, process_id, ordinal) VALUES (1, 1, 1, 0);
INSERT INTO metric (report_id, name, unit, samples, accumulator, rate, text) VALUES
  (1, 'TransferFromDeviceTime', 'ns', 36, 117000000, 0.96, '117ms');
