"""duckdb_append.py DB MILLIONS: appends events from prepared arrays to a DuckDB file, 64 Ki rows per transaction. Prints the CPU
time per event of all threads as a JSON object."""
import json
import sys
import time

import duckdb
import numpy

ROWS = 65536


def main():
    path, millions = sys.argv[1], int(sys.argv[2])
    random = numpy.random.default_rng(1)
    batches = []
    for i in range(8):
        ts = numpy.cumsum(random.integers(20, 400, ROWS)) + i * ROWS * 400
        batches.append({'track': numpy.zeros(ROWS, 'int32'), 'ts': ts, 'dur': random.integers(10, 5000, ROWS),
                        'name': random.integers(0, 12, ROWS).astype('int32'), 'depth': random.integers(0, 3, ROWS).astype('int16')})
    with duckdb.connect(path) as db:
        db.execute('SET threads = 1')
        db.execute('CREATE TABLE event (track INTEGER, ts BIGINT, dur BIGINT, name INTEGER, depth SMALLINT)')
        count = millions * 1_000_000 // ROWS
        begin = time.process_time()
        for i in range(count):
            batch = batches[i % len(batches)]
            db.execute('BEGIN')
            db.execute('INSERT INTO event SELECT * FROM batch')
            db.execute('COMMIT')
        db.execute('CHECKPOINT')
        used_s = time.process_time() - begin
    print(json.dumps({'ns_an_event': used_s * 1e9 / (count * ROWS), 'one': 1}))


main()
