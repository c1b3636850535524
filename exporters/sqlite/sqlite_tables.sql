-- What `export --format sqlite` adds to the tables of facts, which are those of docs/schema.md: events as
-- ordinary rows, and views for people. Times are ns since meta.base_epoch_ns; in views ms since the start of the capture
-- (meta.window_start_ns), as --from and --to count them.

-- Rows of the timeline.
CREATE TABLE event (
  id INTEGER PRIMARY KEY,           -- as in the store
  track_id INTEGER NOT NULL,        -- ref track
  ts_ns INTEGER NOT NULL,           -- start
  dur_ns INTEGER,                   -- length; 0: an instant; NULL: never ended
  name TEXT NOT NULL,               -- what happened
  category TEXT,                    -- host, scope, step, python, tracing, compile, execute, transfer, input, module, op, ...; NULL: none
  depth INTEGER NOT NULL,           -- 0: outermost on its track
  flow_in INTEGER,                  -- it follows from events whose flow_out is this number; NULL: from none
  flow_out INTEGER                  -- it leads to events whose flow_in is this number; NULL: to none
);

-- Arguments of events.
CREATE TABLE arg (
  event_id INTEGER NOT NULL,        -- ref event
  key TEXT NOT NULL,                -- the argument's name
  type TEXT NOT NULL,               -- int, uint, double, string or bytes
  value                             -- INTEGER (a uint of 2^63 or more is decimal text), REAL, TEXT, or BLOB for bytes
);

-- Pairs of events of which the first leads to the second.
CREATE TABLE flow (
  from_event_id INTEGER NOT NULL,   -- ref event
  to_event_id INTEGER NOT NULL,     -- ref event
  flow INTEGER NOT NULL             -- the number that both have
);

-- Samples of the counter tracks.
CREATE TABLE counter_sample (
  track_id INTEGER NOT NULL,        -- ref track, of kind counter
  ts_ns INTEGER NOT NULL,           -- when
  value REAL                        -- what was counted; NULL: not a number
);

--- after the rows

CREATE INDEX event_by_track ON event (track_id, ts_ns);
CREATE INDEX event_by_depth ON event (track_id, depth, ts_ns);
CREATE INDEX event_by_name ON event (name);
CREATE INDEX event_by_flow_in ON event (flow_in) WHERE flow_in IS NOT NULL;
CREATE INDEX arg_by_event ON arg (event_id);
CREATE INDEX counter_sample_by_track ON counter_sample (track_id, ts_ns);

--- after the flows

CREATE INDEX flow_by_from ON flow (from_event_id);
CREATE INDEX flow_by_to ON flow (to_event_id);

--- the views

-- Where the views' times begin.
CREATE VIEW capture_start AS
SELECT coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'window_start_ns'), 0) AS ts_ns;

-- Events with the names of their track and process.
CREATE VIEW slice AS
SELECT e.id, (e.ts_ns - (SELECT ts_ns FROM capture_start)) / 1e6 AS start_ms, e.dur_ns / 1e6 AS dur_ms, e.name, e.category, t.name AS track, t.kind AS track_kind,
       t.device, p.name AS process, p.host, p.pid, p.rank, e.depth, e.track_id
FROM event e JOIN track t ON t.id = e.track_id LEFT JOIN process p ON p.id = t.process_id;

-- Steps with what compiled, ran, was copied and fell back in each. transfers is NULL where no source with times saw the
-- step, nor another one a copy: logs and dumps do not tell of them.
CREATE VIEW steps AS
SELECT s.id, coalesce(s.number, s.ordinal) AS number, s.name, (s.ts_ns - (SELECT ts_ns FROM capture_start)) / 1e6 AS start_ms, s.dur_ns / 1e6 AS dur_ms,
       (SELECT count(*) FROM compile c WHERE c.step_id = s.id) AS compiles,
       (SELECT sum(c.dur_ns) / 1e6 FROM compile c WHERE c.step_id = s.id) AS compile_ms,
       (SELECT count(*) FROM execution x WHERE x.step_id = s.id) AS executions,
       (SELECT sum(x.dur_ns) / 1e6 FROM execution x WHERE x.step_id = s.id) AS execute_ms,
       (SELECT iif(s.ts_ns IS NULL, nullif(count(*), 0), count(*)) FROM transfer f WHERE f.step_id = s.id) AS transfers,
       (SELECT sum(f.count) FROM fallback f WHERE f.step_id = s.id) AS fallbacks,
       s.process_id
FROM step s ORDER BY s.process_id, s.ordinal;

-- Compilations, each with its step and with the line that cut the graph.
CREATE VIEW compiles AS
SELECT c.id, coalesce(s.number, s.ordinal) AS step, i.file, i.line, i.function, c.function AS jitted, c.cause,
       (c.ts_ns - (SELECT ts_ns FROM capture_start)) / 1e6 AS start_ms, c.dur_ns / 1e6 AS compile_ms, c.trace_ns / 1e6 AS trace_ms,
       g.hash AS graph, c.persistent_hit, c.process_id
FROM compile c LEFT JOIN step s ON s.id = c.step_id LEFT JOIN site i ON i.id = c.site_id LEFT JOIN graph g ON g.id = c.graph_id
ORDER BY c.process_id, c.ordinal;

-- Compilations by the line that cut the graph.
CREATE VIEW compiles_by_site AS
SELECT i.file, i.line, i.function, c.function AS jitted, count(*) AS compiles, count(DISTINCT coalesce(g.hash, g.id)) AS graphs,
       sum(c.dur_ns) / 1e6 AS compile_ms, (min(c.ts_ns) - (SELECT ts_ns FROM capture_start)) / 1e6 AS first_ms,
       (max(c.ts_ns) - (SELECT ts_ns FROM capture_start)) / 1e6 AS last_ms
FROM compile c LEFT JOIN site i ON i.id = c.site_id LEFT JOIN graph g ON g.id = c.graph_id
GROUP BY i.file, i.line, i.function, c.function ORDER BY compile_ms DESC, compiles DESC;

-- Executions by the line that cut the graph, else the one that compiled it first, and why it was cut there.
CREATE VIEW executions_by_site AS
SELECT i.file, i.line, i.function, x.cause, count(*) AS executions, count(DISTINCT coalesce(g.hash, g.id)) AS graphs,
       sum(x.dur_ns) / 1e6 AS device_ms, sum(x.host_wait_ns) / 1e6 AS host_wait_ms
FROM execution x LEFT JOIN (SELECT graph_id, min(ordinal), site_id FROM compile WHERE site_id IS NOT NULL GROUP BY graph_id) c
  ON c.graph_id = x.graph_id LEFT JOIN site i ON i.id = coalesce(x.site_id, c.site_id) LEFT JOIN graph g ON g.id = x.graph_id
GROUP BY i.file, i.line, i.function, x.cause ORDER BY executions DESC;

-- Ops without a lowering, by the line that uses them.
CREATE VIEW fallbacks_by_site AS
SELECT f.op, i.file, i.line, i.function, sum(f.count) AS calls
FROM fallback f LEFT JOIN site i ON i.id = f.site_id GROUP BY f.op, i.file, i.line, i.function ORDER BY calls DESC;

-- Where the time went, by event name. total_ms counts an event inside another of that name twice; self_ms is without
-- what events inside took; operations of an asynchronous track overlap, and are not inside one another.
CREATE VIEW time_by_name AS
SELECT name, category, count(*) AS events, sum(dur_ns) / 1e6 AS total_ms, sum(max(0, dur_ns - inside_ns)) / 1e6 AS self_ms,
       avg(dur_ns) / 1e6 AS mean_ms, max(dur_ns) / 1e6 AS longest_ms
FROM (SELECT e.name, e.category, e.dur_ns,
             iif(t.kind = 'async', 0,
                 (SELECT coalesce(sum(i.dur_ns), 0) FROM event i
                  WHERE i.track_id = e.track_id AND i.ts_ns >= e.ts_ns AND i.ts_ns < e.ts_ns + e.dur_ns
                        AND i.ts_ns + i.dur_ns <= e.ts_ns + e.dur_ns AND i.depth = e.depth + 1)) AS inside_ns
      FROM event e JOIN track t ON t.id = e.track_id)
GROUP BY name, category ORDER BY total_ms DESC;

-- What xlaprof concluded, first things first.
CREATE VIEW findings AS
SELECT id AS rank, severity, kind, title, cost_ns / 1e6 AS cost_ms, count,
       json_extract(json, '$.subject.file') AS file, json_extract(json, '$.subject.line') AS line,
       json_extract(json, '$.reason.type') AS reason, json_extract(json, '$.reason.state') AS state,
       json_extract(json, '$.reason.text') AS why,
       json_extract(json, '$.advice') AS advice
FROM finding ORDER BY id;
