"""duckdb_queries.py load DIR DB: loads the arrays of `store_queries --dump` into a table of a DuckDB file.
duckdb_queries.py DB ROUNDS THREADS: runs the three queries of store_queries.cc in SQL, and prints the same JSON object."""
import json
import sys
import time

import duckdb

GAPS = """SELECT before AS s, ts AS e FROM (SELECT ts, lag(ts + dur) OVER (PARTITION BY track ORDER BY ts) AS before
          FROM event WHERE kind = 1) WHERE ts - before > 10000"""
QUERIES = {
    'group_by_name': """SELECT count(*), sum(n), sum(ns) FROM
        (SELECT name, count(*) AS n, sum(dur) AS ns FROM event GROUP BY name)""",
    'gaps': f'SELECT count(*), sum(e - s) FROM ({GAPS})',
    'overlap': f"""SELECT count(*), sum(n), sum(ns) FROM (
        SELECT name, count(*) AS n, sum(least(ts + dur, e) - greatest(ts, s)) AS ns
        FROM (SELECT ts, dur, name FROM event WHERE kind = 2) h JOIN ({GAPS}) g ON h.ts < g.e AND h.ts + h.dur > g.s
        GROUP BY name)""",
}
WORDS = {2: '{} gaps, {} ns', 3: '{} names, {} times, {} ns'}


def load(folder, path):
    import numpy
    columns = {name: numpy.fromfile(f'{folder}/{name}.i64', dtype='int64') for name in ('track', 'kind', 'ts', 'dur', 'name')}
    with duckdb.connect(path) as db:
        db.execute("CREATE TABLE event AS SELECT track::INTEGER AS track, kind::TINYINT AS kind, ts, dur, name::INTEGER AS name "
                   "FROM columns")
        db.execute('CHECKPOINT')


def ask(path, rounds, threads):
    out = {}
    with duckdb.connect(path, read_only=True) as db:
        db.execute(f'SET threads = {threads}')
        for key, sql in QUERIES.items():
            wall_s, cpu_s = [], []
            for _ in range(rounds):
                wall, cpu = time.perf_counter(), time.process_time()
                row = db.execute(sql).fetchone()
                wall_s.append(time.perf_counter() - wall)
                cpu_s.append(time.process_time() - cpu)
            out[key] = {'wall_s': wall_s, 'cpu_s': cpu_s, 'answer': WORDS[len(row)].format(*row)}
    print(json.dumps(out))


if __name__ == '__main__':
    if sys.argv[1] == 'load':
        load(*sys.argv[2:])
    else:
        ask(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
