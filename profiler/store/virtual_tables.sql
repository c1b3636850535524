-- Virtual tables that show the chunks as rows. xlaprof and the loadable extension xlaprof_sqlite register them. This text
-- declares them to SQLite, and docs/schema.md is generated from it too.
--
-- INSERT INTO event, arg and counter_sample works in a store that is open for writing. Rows are buffered until COMMIT and
-- then encoded; before that, SELECT does not return them. UPDATE and DELETE are not supported, because chunks never change.
--   * event needs track_id, ts_ns and name, and accepts dur_ns, category, flow_in and flow_out. depth, name_id and
--     category_id follow from them and cannot be given.
--   * An event keeps the id that is given, which must be positive and unique. Other events get an id at COMMIT. These ids
--     are larger than all ids in the file and the transaction, ordered by track, then by ts_ns, then longest first. Until
--     then last_insert_rowid() returns a negative placeholder, which arg.event_id also accepts.
--   * An event's id is its chunk's first id plus its index. A chunk therefore ends where the ids of a track, in that order,
--     are not consecutive. For many events, give ids in that order, or give none.
--   * arg needs event_id, key and value. It also needs type if the value does not determine it (uint, or a number given as
--     text). The event must be inserted in the same transaction, before or after its arguments.
--   * depth counts only the enclosing events of the same transaction.
-- xlaprof_chunks_read() returns how many chunks this connection has decoded, and xlaprof_chunks_damaged() how many it
-- skipped because they are damaged.

-- Events of the timeline, one row each.
CREATE TABLE event (
  id INTEGER,                       -- unique number, never changes; WHERE id = ... is fast
  track_id INTEGER,                 -- ref track
  ts_ns INTEGER,                    -- start
  dur_ns INTEGER,                   -- length; 0: an instant; NULL: never ended
  name TEXT,                        -- what happened
  category TEXT,                    -- host, scope, step, python, tracing, compile, execute, transfer, input, module, op, ...; NULL: none
  depth INTEGER,                    -- 0: outermost on its track
  flow_in INTEGER,                  -- it follows from events whose flow_out is this 64-bit number; NULL: from none
  flow_out INTEGER,                 -- it leads to events whose flow_in is this 64-bit number; NULL: to none
  name_id INTEGER,                  -- ref string: the name
  category_id INTEGER               -- ref string: the category; NULL: none
);

-- Arguments of events, one row each. An argument that all events of a name share has a row for each of these events.
CREATE TABLE arg (
  event_id INTEGER,                 -- ref event
  key TEXT,                         -- the argument's name
  type TEXT,                        -- int, uint, double, string or bytes
  value,                            -- INTEGER (a uint of 2^63 or more comes out as decimal text), REAL, TEXT, or BLOB for bytes
  key_id INTEGER                    -- ref string: the key
);

-- Pairs of events, on the same or on different tracks, in which the first event leads to the second.
CREATE TABLE flow (
  from_event_id INTEGER,            -- ref event: its flow_out is flow
  to_event_id INTEGER,              -- ref event: its flow_in is flow
  flow INTEGER                      -- the number that both have
);

-- Values of the counter tracks.
CREATE TABLE counter_sample (
  track_id INTEGER,                 -- ref track, of kind counter
  ts_ns INTEGER,                    -- when it had the value
  value REAL                        -- what was counted, in the unit that the track's name gives
);
