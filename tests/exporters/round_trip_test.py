#!/usr/bin/python3
"""round_trip_test.py PROGRAM [CAPTURE...] checks that the output of `export --format chrome`, imported and exported again, has
the same events (thread, phase, name, category, start, length, arguments), arrows and counter values. So must have the output of
`export --format perfetto`, imported and exported in Chrome's format."""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = TESTS / "golden"
sys.path.insert(0, str(TESTS))
from stores import bundled_captures, store_of_sql  # noqa: E402


def frozen(value):
    return json.dumps(value, sort_keys=True)


def contents(trace):
    """Returns multisets of events, arrows and samples; their times are Unix ns. Numbers with a decimal point stay text, so that
    nothing is rounded. A run of U+FFFD counts as one, and so does NUL, because the formats replace invalid UTF-8
    byte by byte or as a whole."""
    threads, processes, records = {}, {}, []
    data = json.load(open(trace), parse_float=str)
    unix_ns = lambda micros: data["baseTimeNanoseconds"] + int(micros.replace(".", ""))
    for record in data["traceEvents"]:
        if record["name"] == "thread_name":
            threads[record["pid"], record["tid"]] = re.sub(r" \(\d+\)$", "", record["args"]["name"])
        elif record["name"] == "process_name":
            processes[record["pid"]] = record["args"]["name"]
        elif record["ph"] != "M" and processes.get(record["pid"]) != "xlaprof":
            records.append(record)
    events, samples, arrows = collections.Counter(), collections.Counter(), collections.defaultdict(list)
    for record in records:
        thread = threads.get((record["pid"], record["tid"]))
        if record["ph"] == "C":
            samples[record["name"], unix_ns(record["ts"]), frozen(record["args"])] += 1
            continue
        if record["ph"] in "sf":
            arrows[record["id"]].append((record["ph"], event))
            continue
        event = (thread, record["ph"], re.sub("[\0\ufffd]+", "\ufffd", record["name"]), record.get("cat"), unix_ns(record["ts"]),
                 record.get("dur"), frozen(record.get("args", {})))
        events[event] += 1
        if "bind_id" in record:
            arrows[record["bind_id"]].append(("s" if "flow_out" in record else "f", event))
    return events, samples, collections.Counter(tuple(sorted(ends, key=frozen)) for ends in arrows.values())


def without_seconds(arrows, kept):
    """Drops all but one of several arrows to an event, because an event of a store has one number for the flows to it."""
    reached = {end for arrow in kept for end in arrow if end[0] == "f"}
    return collections.Counter({arrow: count for arrow, count in arrows.items()
                                if arrow in kept or not all(end in reached for end in arrow if end[0] == "f")})


def same(name, first, second):
    differences = 0
    for what, a, b in zip(("event", "sample", "arrow"), contents(first), contents(second)):
        if what == "arrow":
            a = without_seconds(a, b)
        for gone in list((a - b).items())[:3]:
            print(f"{name}: {what} of the first export only: {gone}")
        for new in list((b - a).items())[:3]:
            print(f"{name}: {what} of the second export only: {new}")
        differences += a != b
    print(f"round_trip: {name}: {'differs' if differences else 'the same'}")
    return differences == 0


def main(program, *captures):
    program = pathlib.Path(program)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        sources = {name: path for name, path in bundled_captures().items() if not captures or name in captures}
        sources["every_kind"] = store_of_sql(GOLDEN / "export_timeline/every_kind.sql", folder / "every_kind.xlaprof",
                                             program.with_name("xlaprof_sqlite.so"))
        for name, source in sources.items():
            first, second = (folder / f"{name}.{nth}.json" for nth in ("first", "second"))
            for read, written in ((source, first), (first, second)):
                subprocess.run([program, "export", read, "--format", "chrome", "--no-findings", "-o", written], check=True,
                               stdout=subprocess.DEVNULL)
            failures += not same(name, first, second)
            trace, third = folder / f"{name}.pftrace", folder / f"{name}.third.json"
            for read, written, style in ((source, trace, "perfetto"), (trace, third, "chrome")):
                subprocess.run([program, "export", read, "--format", style, "--no-findings", "-o", written], check=True,
                               stdout=subprocess.DEVNULL)
            failures += not same(f"{name} (perfetto)", first, third)
    return 1 if failures or len(sources) <= len(captures) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
