-- The virtual tables over the chunks, which xlaprof and the loadable extension xlaprof_sqlite
-- register. They are declared to SQLite with this text, and docs/schema.md is generated from it too.
--
-- INSERT INTO event, arg and counter_sample works in a store that is open for writing. Rows are buffered, and encoded at
-- COMMIT: until then SELECT does not see them. UPDATE and DELETE do not exist: chunks are never altered.
--   * event takes track_id, ts_ns and name, and where known dur_ns, category, flow_in and flow_out. depth, name_id and
--     category_id follow from them and cannot be given.
--   * An event keeps the id that it is given: a positive one that no other event has. The others get theirs at COMMIT:
--     above all ids of the file and the transaction, by track, then by ts_ns, then longest first. Until then
--     last_insert_rowid() is a negative stand-in, which arg.event_id takes too.
--   * An event's id is its chunk's first id plus its index, so a chunk ends where the ids of a track, in that order, are not
--     consecutive: give ids in that order, or none, where there are many events.
--   * arg takes event_id, key, value, and type where the value does not tell it (uint; a number given as text). The event
--     must be inserted in the same transaction, before or after.
--   * depth is counted among the events of the same transaction.
-- xlaprof_chunks_read() and xlaprof_chunks_damaged() tell how many chunks this connection has decoded, and how many it
-- left out because they are damaged.

-- Events of the timeline, one row each.
CREATE TABLE event (
  id INTEGER,                       -- given once, never changes; WHERE id = ... is a look-up
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

-- Arguments of events, one row each; one that all events of a name share has a row for each of these events.
CREATE TABLE arg (
  event_id INTEGER,                 -- ref event
  key TEXT,                         -- the argument's name
  type TEXT,                        -- int, uint, double, string or bytes
  value,                            -- INTEGER (a uint of 2^63 or more comes out as decimal text), REAL, TEXT, or BLOB for bytes
  key_id INTEGER                    -- ref string: the key
);

-- Pairs of events, on whatever tracks, of which the first leads to the second.
CREATE TABLE flow (
  from_event_id INTEGER,            -- ref event: its flow_out is flow
  to_event_id INTEGER,              -- ref event: its flow_in is flow
  flow INTEGER                      -- the number that both have
);

-- Samples of the counter tracks.
CREATE TABLE counter_sample (
  track_id INTEGER,                 -- ref track, of kind counter
  ts_ns INTEGER,                    -- time of the sample
  value REAL                        -- what was counted, in the unit that the track's name gives
);
