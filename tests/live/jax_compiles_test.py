#!/usr/bin/python3
"""jax_compiles_test.py XLAPROF PYTHON... compares reports on JAX's log with what JAX's own listeners heard (jax.monitoring).

Each PYTHON, which has JAX, runs jax_compiles.py twice: with an empty persistent cache and with the one that the first run left. The
report must have the same compilations of each function, sums of times, lookups in the cache, reasons and lines."""
import collections
import pathlib
import re
import sys
import tempfile

from programs import HERE, Report, last_json, run

CLOSE = 0.01  # the greatest relative difference of two sums of times
COMPILE = "/jax/core/compile/backend_compile_duration"  # of a program that comes from the cache: the time to read it
TRACE = ("/jax/core/compile/jaxpr_trace_duration", "/jax/core/compile/jaxpr_to_mlir_module_duration")


def compare(report, jax):
    """Returns the differences, one sentence each."""
    differences = []

    def same(what, ours, theirs):
        if ours != theirs:
            differences.append(f"{what}: xlaprof {ours}, JAX {theirs}")

    def close(what, ours_s, theirs_s):
        if abs(ours_s - theirs_s) > max(CLOSE * theirs_s, 0.001):
            differences.append(f"{what}: xlaprof {ours_s:.4f} s, JAX {theirs_s:.4f} s")

    heard = {re.sub(r"^jit\((.*)\)$", r"\1", name): times for name, times in jax["seconds"][COMPILE].items()}
    events, summary = jax["events"], report.summary
    hits, misses = (events.get(f"/jax/compilation_cache/cache_{what}", 0) for what in ("hits", "misses"))
    counted = collections.Counter(row["function"] for row in report.ask("SELECT function FROM compile"))
    if "" not in heard:  # older versions do not tell which function it was
        same("compilations and loads by function", dict(counted), {name: len(times) for name, times in heard.items()})
    same("compilations", summary["compile_count"], misses)
    same("programs from the cache", summary["load_count"] or 0, hits)
    lookups = {row["result"]: row["n"] for row in report.ask("SELECT result, count(*) AS n FROM cache_lookup GROUP BY result")}
    same("lookups", (lookups.get("hit", 0), lookups.get("miss", 0)), (hits, misses))
    close("time to compile and load", ((summary["compile_ns"] or 0) + (summary["load_ns"] or 0)) / 1e9,
          sum(map(sum, heard.values())))
    close("time to trace", summary["tracing_ns"] / 1e9, sum(sum(times) for event in TRACE for times in jax["seconds"][event].values()))

    findings = {f["subject"]["function"]: (f["count"], f["subject"]["line"], f["reason"]["type"])
                for f in report.findings("recompilation")}
    for function, planted in jax["planted"].items():
        same(f"compilations of {function}", counted[function], planted["compiles"])
        same(f"finding of {function}", findings.get(function), (planted["compiles"] - 1, planted["line"], planted["why"]))
    return differences


def main(program, *pythons):
    failures = 0
    for path in pythons:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name in ("cold", "warm"):
                log = folder / f"{name}.txt"
                jax = last_json(run(path, HERE / "jax_compiles.py", log=log, JAX_PLATFORMS="cpu", JAX_LOG_COMPILES="1",
                                    JAX_EXPLAIN_CACHE_MISSES="1", JAX_COMPILATION_CACHE_DIR=str(folder / "cache"),
                                    JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0"))
                report = Report(pathlib.Path(program).resolve(), folder, log)
                differences = compare(report, jax)
                print(f"JAX {jax['jax']}, {name} cache: {report.summary['compile_count']} compilations, "
                      f"{report.summary['load_count'] or 0} loads; {len(differences) or 'no'} differences")
                print("".join(f"  {difference}\n" for difference in differences), end="", flush=True)
                failures += bool(differences)
    return 1 if failures or not pythons else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
