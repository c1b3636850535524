-- case just_fires steps=3 pieces=4
-- case just_does_not_fire steps=3 pieces=3
-- case just_fires_by_mention steps=3 pieces=3
-- case just_does_not_fire_by_mention steps=3 pieces=2
-- case just_fires_by_third_step steps=3 pieces=4
-- case just_does_not_fire_by_third_step steps=2 pieces=4
--
-- A model under torch.compile breaks into several graphs, and each runs alone. The log shows {steps}
-- steps.
--
-- Figure under test: {pieces} executions in each of {steps} steps.
-- Threshold: four executions in the median step are a warning, and three are information. From three
-- steps on the median is judged. With fewer, warm-up decides it.

INSERT INTO run (id, label, selected, why) VALUES (1, 'steps in pieces', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.log', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
-- The steps, and the pieces of each.
CREATE TEMP TABLE steps AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {steps}) SELECT i FROM n;
CREATE TEMP TABLE pieces AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {pieces}) SELECT i AS k FROM n;
INSERT INTO step (id, process_id, ordinal) SELECT i + 1, 1, i FROM steps;
INSERT INTO execution (process_id, ordinal, cause, step_id)
SELECT 1, 10 * i + k, 'dynamo_execute', i + 1 FROM steps, pieces;
