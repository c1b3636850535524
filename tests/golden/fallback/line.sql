-- case just_fires_by_line cuts=4 calls=4
-- case just_does_not_fire_by_line cuts=3 calls=3
-- case just_fires_by_share_of_calls cuts=2 calls=40
-- case just_does_not_fire_by_share_of_calls cuts=2 calls=41
--
-- A debug log of 40 steps shows at which line the graph is cut for aten::masked_select, a tensor of
-- 32 booleans. A metrics report counts the calls of the op. So the cut is reported as the op's,
-- and not as a read.
--
-- Figure under test: the line cuts in {cuts} of 40 steps, and the op is called {calls} times.
-- Threshold: a call in a tenth of the steps is a warning, here 4. A line that cuts in less than 5 % of
-- the calls is not that of the op.

INSERT INTO run (id, label, selected, why) VALUES (1, 'forty steps', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'train.log', 'debug_log', 1, 'log');
INSERT INTO process (id, run_id, source_id, segment, host) VALUES (1, 1, 1, 0, 'vm');
INSERT INTO site (id, function, file, line) VALUES (1, 'loss', '/home/ana/fit.py', 31), (2, 'train', '/home/ana/fit.py', 52);
INSERT INTO graph (id, process_id, hash, node_count, printed_as) VALUES (1, 1, 'aa', 2, 'ir_text'), (2, 1, 'bb', 1, 'ir_text');
INSERT INTO graph_node (graph_id, idx, op, shape, operands, root) VALUES
  (1, 0, 'xla::device_data', 'f32[32]', '', NULL), (1, 1, 'aten::gt', 'pred[32]', '0', 0), (2, 0, 'xla::device_data', 'f32[32]', '', 0);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39)
INSERT INTO step (id, process_id, ordinal) SELECT i + 1, 1, i FROM n;
-- How many steps have an early cut is the figure under test.
CREATE TEMP TABLE cut AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39) SELECT i FROM n LIMIT {cuts};
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id, step_id)
SELECT 1, 2 * i, 1, 'value_access', 1, i + 1 FROM cut;
INSERT INTO fallback (process_id, op, count) VALUES (1, 'aten::masked_select', {calls});
-- Each step ends with a step mark.
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39)
INSERT INTO execution (process_id, ordinal, graph_id, cause, site_id, step_id)
SELECT 1, 2 * i + 1, 2, 'user_sync', 2, i + 1 FROM n;
