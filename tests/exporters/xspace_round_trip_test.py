#!/usr/bin/python3
"""xspace_round_trip_test.py PROGRAM [CAPTURE...] checks that the output of `export --format xspace`, imported again, has the same
rows: tracks, events with their arguments and flows, steps with times, counters and their samples. The exceptions are those
of docs/formats/xspace_export.md, and each is named here."""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = TESTS / "golden"
sys.path.insert(0, str(TESTS))
from stores import bundled_captures, store_of_sql  # noqa: E402

# Rows that are compared, by name: both stores must have each row equally often. Flows are compared by what they join,
# because their numbers are assigned anew.
ROWS = {
    "track": "SELECT DISTINCT t.kind, t.name, t.tid, t.device FROM track t JOIN event_chunk c ON c.track_id = t.id",
    "event": "SELECT t.kind, t.name AS track, t.device, e.ts_ns, e.dur_ns, e.name, e.category, e.depth FROM event e JOIN track t "
             "ON t.id = e.track_id",
    "argument": "SELECT e.ts_ns, e.dur_ns, e.name, a.key, a.type, CASE a.type WHEN 'bytes' THEN hex(a.value) ELSE "
                "CAST(a.value AS TEXT) END AS value FROM arg a JOIN event e ON e.id = a.event_id",
    "flow": "SELECT a.ts_ns AS from_ns, a.name AS from_name, b.ts_ns AS to_ns, b.name AS to_name FROM flow f JOIN event a ON "
            "a.id = f.from_event_id JOIN event b ON b.id = f.to_event_id",
    "open flow": "SELECT ts_ns, name, flow_in IS NULL AS no_in, flow_out IS NULL AS no_out FROM event WHERE flow_in IS NOT NULL "
                 "OR flow_out IS NOT NULL",
    "step": "SELECT number, name, ts_ns, dur_ns FROM step WHERE ts_ns IS NOT NULL",
    "counter": "SELECT t.name, t.device, p.name AS parent FROM track t LEFT JOIN track p ON p.id = t.parent_id WHERE t.kind = "
               "'counter'",
    "sample": "SELECT t.name, t.device, c.ts_ns, CAST(c.value AS TEXT) AS value FROM counter_sample c JOIN track t ON "
              "t.id = c.track_id",
    "base": "SELECT value FROM meta WHERE key = 'base_epoch_ns'",
}
# A track without a number gets one.
NUMBERED = "track"
# every_kind has invalid UTF-8 text, which is replaced, steps without an event, and an event without a process. Such
# rows are left out of the comparison there.
UNSAYABLE = {"every_kind": ("\ufffd", "step")}


def rows(program, store, sql):
    said = subprocess.run([program, "query", store, sql, "--format", "json"], check=True, capture_output=True)
    return json.loads(said.stdout.decode(errors="replace"))


def counted(name, what, found):
    for row in found:
        if what == NUMBERED and (row["tid"] is None or int(row["tid"]) >> 32 == 1):
            row["tid"] = None
    texts = [json.dumps(row, sort_keys=True, ensure_ascii=False) for row in found]
    for word in UNSAYABLE.get(name, ()):
        texts = [text for text in texts if word not in text and what != word]
    return collections.Counter(texts)


def same(program, name, first, second):
    differences = 0
    for what, sql in ROWS.items():
        a, b = (counted(name, what, rows(program, store, sql)) for store in (first, second))
        for gone in list((a - b).items())[:3]:
            print(f"{name}: {what} of the store only: {gone}")
        for new in list((b - a).items())[:3]:
            print(f"{name}: {what} of the XSpace only: {new}")
        differences += a != b
    print(f"xspace_round_trip: {name}: {'differs' if differences else 'the same'}")
    return differences == 0


def main(program, *captures):
    program = pathlib.Path(program)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        sources = {name: path for name, path in bundled_captures().items() if not captures or name in captures}
        sources["every_kind"] = None
        for name, source in sources.items():
            store, file, again = (folder / f"{name}{suffix}" for suffix in (".xlaprof", ".xplane.pb", ".again.xlaprof"))
            if source is None:
                store_of_sql(GOLDEN / "export_timeline/every_kind.sql", store, program.with_name("xlaprof_sqlite.so"))
            else:
                subprocess.run([program, "import", source, "-o", store], check=True, stdout=subprocess.DEVNULL)
            subprocess.run([program, "export", store, "--format", "xspace", "-o", file], check=True, stdout=subprocess.DEVNULL)
            subprocess.run([program, "import", file, "-o", again], check=True, stdout=subprocess.DEVNULL)
            failures += not same(program, name, store, again)
    return 1 if failures or len(sources) <= len(captures) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
