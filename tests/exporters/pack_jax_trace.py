#!/usr/bin/python3
"""pack_jax_trace.py HOST.trace.json.gz PACKED.json.xz packs the events of a Chrome trace that JAX wrote, without repeated text,
for jax_trace_test.py to compare an export with. Times are ns; JAX writes 1 ps if an event has no length."""
import gzip
import json
import lzma
import sys
from decimal import Decimal


def main(trace, packed):
    events = json.load(gzip.open(trace), parse_float=Decimal)["traceEvents"]
    ns = lambda micros: int(round(Decimal(micros) * 1000, 3))  # JAX prints doubles: 11018.610000000001
    threads, names, of_thread = {}, {}, {}
    for event in events:
        if event.get("name") == "thread_name":
            threads[event["pid"], event["tid"]] = event["args"]["name"]
        elif event.get("ph") == "X":
            rows = of_thread.setdefault((event["pid"], event["tid"]), [])
            rows.append((ns(event["ts"]), ns(event["dur"]), names.setdefault(event["name"], len(names))))
        elif event and event["ph"] != "M":
            sys.exit(f"an event that is not known here: {event}")
    out = {"names": list(names), "threads": []}
    for key, rows in sorted(of_thread.items()):
        rows.sort()
        starts = [row[0] for row in rows]
        out["threads"].append({
            "thread": threads[key],
            "start_delta_ns": [b - a for a, b in zip([0] + starts, starts)],
            "dur_ns": [row[1] for row in rows],
            "name": [row[2] for row in rows]})
    with lzma.open(packed, "wt", preset=9 | lzma.PRESET_EXTREME) as file:
        json.dump(out, file, separators=(",", ":"), ensure_ascii=False)


main(*sys.argv[1:])
