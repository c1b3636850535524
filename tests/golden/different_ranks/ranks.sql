-- case just_fires executions=21 executions_of_rank_1=21 ended=1 op=xla::all_reduce group_size=3 groups=()
-- case just_does_not_fire executions=21 executions_of_rank_1=21 ended=1 op=aten::exp group_size=3 groups=()
-- case just_does_not_fire_by_groups executions=21 executions_of_rank_1=21 ended=1 op=xla::all_reduce group_size=1 groups=(0,1,2)
-- case just_fires_by_length executions=21 executions_of_rank_1=20 ended=1 op=xla::all_reduce group_size=3 groups=()
-- case just_does_not_fire_by_length executions=20 executions_of_rank_1=20 ended=1 op=xla::all_reduce group_size=3 groups=()
-- case just_does_not_fire_by_end executions=21 executions_of_rank_1=20 ended=0 op=xla::all_reduce group_size=3 groups=()
--
-- Three ranks of a job run the same program. Rank 1 may have another batch size in its 21st step.
--
-- Figure under test: rank 1 executes {executions_of_rank_1} graphs and each other rank {executions}. The
-- graphs compute {op} in groups of {group_size}. Unless rank 1's recording has
-- ended ({ended}), its last executions were lost.
-- Threshold: there is none. All ranks must execute the same graphs, and as many, if these exchange
-- data with all.

INSERT INTO run (id, label, selected, why) VALUES (1, 'a job', 1, 'the only one in these files');
INSERT INTO source (id, path, format, imported, kind) VALUES (1, 'rank0.xlaprof', 'recording', 1, 'timed'), (2, 'rank1.xlaprof', 'recording', 1, 'timed'), (3, 'rank2.xlaprof', 'recording', 1, 'timed');
INSERT INTO process (id, run_id, source_id, segment, host, pid, rank) VALUES (1, 1, 1, 0, 'vm', 100, 0), (2, 1, 2, 0, 'vm', 101, 1), (3, 1, 3, 0, 'vm', 102, 2);
INSERT INTO recording (process_id, ring, ring_key, ended, clock) VALUES (1, 'a.ring', '00', 1, 'tsc'), (2, 'b.ring', '01', {ended}, 'tsc'), (3, 'c.ring', '02', 1, 'tsc');
INSERT INTO site (id, function, file, line) VALUES (1, 'Train', '/home/ana/train.cc', 31);
-- Graph 1 has a batch of 16, and graph 2 one of 3.
INSERT INTO graph (id, process_id, hash, name, printed_as, node_count) VALUES (1, 1, 'aaaa', 'SyncTensorsGraph.1', 'ir_text', 3), (2, 2, 'bbbb', 'SyncTensorsGraph.2', 'ir_text', 3);
INSERT INTO graph_node (graph_id, idx, op, shape, operands, attributes, location) VALUES
  (1, 0, 'xla::device_data', 'f32[16,8]{1,0}', '', NULL, 'Train@/home/ana/train.cc:29'), (1, 1, 'aten::sum', 'f32[8]{0}', '0', NULL, 'Train@/home/ana/train.cc:30'),
  (1, 2, '{op}', 'f32[8]{0}', '1', 'reduce_type=0, ranks=3, group_size={group_size}, groups={groups}', 'Train@/home/ana/train.cc:31'),
  (2, 0, 'xla::device_data', 'f32[3,8]{1,0}', '', NULL, 'Train@/home/ana/train.cc:29'), (2, 1, 'aten::sum', 'f32[8]{0}', '0', NULL, 'Train@/home/ana/train.cc:30'),
  (2, 2, '{op}', 'f32[8]{0}', '1', 'reduce_type=0, ranks=3, group_size={group_size}, groups={groups}', 'Train@/home/ana/train.cc:31');
-- How many executions each rank has is a figure under test.
CREATE TEMP TABLE ranks AS SELECT column1 AS p, column2 AS n FROM (VALUES (1, {executions}), (2, {executions_of_rank_1}), (3, {executions}));
INSERT INTO execution (process_id, ordinal, cause, graph_id, device, site_id)
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
SELECT ranks.p, i, 'parallel_loader', iif(ranks.p = 2 AND i = 20, 2, 1), 'CPU:0', 1 FROM ranks, n WHERE i < ranks.n;
