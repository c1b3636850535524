#!/usr/bin/python3
"""jax_trace_test.py PROGRAM checks that the events which `PROGRAM export --format chrome` writes for a capture of JAX are, one
by one, those that JAX itself wrote to its trace.json.gz from the same XSpace: thread, name, start and length."""
import collections
import json
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"


def of_jax(packed):
    data = json.load(lzma.open(packed, "rt"))
    events = collections.Counter()
    for thread in data["threads"]:
        start = 0
        for delta, length, name in zip(thread["start_delta_ns"], thread["dur_ns"], thread["name"]):
            start += delta
            events[thread["thread"], data["names"][name], start, length] += 1
    return events


def ns(micros):
    if not re.fullmatch(r"\d+\.\d{3}", micros):
        raise ValueError(f"{micros}: a time without exactly three decimals")
    return int(micros.replace(".", ""))


def of_export(trace):
    threads, events = {}, collections.Counter()
    # A number with a decimal point stays text, so that nothing is rounded.
    for event in json.load(open(trace), parse_float=str)["traceEvents"]:
        key = event["pid"], event["tid"]
        if event["name"] == "thread_name":
            # Events that overlap others of their thread are on threads of their own: "python (2)".
            threads[key] = re.sub(r" \(\d+\)$", "", event["args"]["name"])
        elif event["ph"] in "XiB" and not event.get("cat", "").startswith("xlaprof."):
            events[threads[key], event["name"], ns(event["ts"]), ns(event.get("dur", "0.000"))] += 1
    return events


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.json"
        subprocess.run([program, "export", GOLDEN / "captures/jax_recompile", "--format", "chrome", "--no-findings",
                        "-o", trace], check=True, stdout=subprocess.DEVNULL)
        ours = of_export(trace)
    theirs = of_jax(GOLDEN / "jax_trace/vm.trace.packed.json.xz")
    for what, events in (("only in JAX's trace", theirs - ours), ("only in the export", ours - theirs)):
        for event, count in list(events.items())[:5]:
            print(f"{what}: {event} ({count} times)")
    print(f"jax_trace: {sum(ours.values())} events exported, {sum(theirs.values())} in JAX's trace, "
          f"{sum((ours & theirs).values())} in both")
    return 0 if ours == theirs and len(theirs) > 400000 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
