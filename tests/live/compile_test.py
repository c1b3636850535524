#!/usr/bin/python3
"""compile_test.py XLAPROF BACKEND [PYTHON...] compares reports on TORCH_TRACE with what torch itself counted.

Each PYTHON, which has torch, runs compile_program.py twice with this backend: with an empty cache and with the one that the first
run left. The report must have the same compilations, reasons, lines, graph breaks, cache lookups and sums of times as torch.

Without a PYTHON, one that has torch is looked for, and runs the program once; the exit status is 77 if there is none."""
import collections
import os
import pathlib
import subprocess
import sys
import tempfile

from programs import HERE, Report, last_json, python, run

CLOSE = 0.01  # the greatest relative difference of two sums of times
OLDEST = (2, 6)  # this torch's TORCH_TRACE is the oldest that xlaprof knows
PHASES = ("dynamo", "aot_autograd", "inductor", "code_generation")


def exclusive(seconds):
    """Returns the sums of compile_times() as xlaprof divides them. Each of torch's contains the next one."""
    whole = seconds["_compile.compile_inner"] + seconds.get("backward._backward_impl", 0)
    backend = seconds["OutputGraph.call_user_compiler"] + seconds.get("backward._backward_impl", 0)
    inductor = seconds.get("compile_fx_inner", 0)
    code = seconds.get("GraphLowering.compile_to_module", 0)
    return {"all": whole, "dynamo": whole - backend, "aot_autograd": backend - inductor, "inductor": inductor - code,
            "code_generation": code}


class Comparison:
    def __init__(self):
        self.differences = []

    def same(self, what, ours, theirs):
        if ours != theirs:
            self.differences.append(f"{what}: xlaprof {ours}, torch {theirs}")

    def close(self, what, ours_s, theirs_s):
        if abs(ours_s - theirs_s) > max(CLOSE * theirs_s, 0.001):
            self.differences.append(f"{what}: xlaprof {ours_s:.3f} s, torch {theirs_s:.3f} s")


def compare(report, torch):
    found = Comparison()
    same, counters = found.same, torch["counters"]

    same("compilations", report.summary["compile_count"], counters["frames"]["ok"])
    rows = report.ask("SELECT c.function AS function, s.line AS line, r.type AS why FROM compile c LEFT JOIN site s ON s.id = c.site_id "
                      "LEFT JOIN compile_reason r ON r.compile_id = c.id AND r.idx = 0")
    for function, planted in torch["planted"].items():
        mine = [row for row in rows if row["function"] == function]
        same(f"compilations of {function}", len(mine), planted["compiles"])
        same(f"reasons of {function}", dict(collections.Counter(row["why"] for row in mine if row["why"])), planted["again"])
    same("other compilations", [row["function"] for row in rows if row["function"] not in torch["planted"]], [])

    findings = {(f["subject"]["function"], f["subject"]["line"], f["reason"]["type"]): f["count"] for f in report.findings("recompilation")}
    same("findings", findings, {(function, planted["line"], why): count for function, planted in torch["planted"].items()
                                for why, count in planted["again"].items()})
    same("graph breaks", [[f["subject"]["function"], f["subject"]["line"]] for f in report.findings("graph_break")], torch["breaks"])

    lookups = {(row["cache"], row["result"]): row["n"] for row in
               report.ask("SELECT cache, result, count(*) AS n FROM cache_lookup GROUP BY cache, result")}
    for result in ("hit", "miss"):
        same(f"{result} of AOTAutograd's cache", lookups.get(("aot_autograd", result), 0),
             counters.get("aot_autograd", {}).get(f"autograd_cache_{result}", 0))
        same(f"{result} of Inductor's cache", lookups.get(("inductor", result), 0),
             counters.get("inductor", {}).get(f"fxgraph_cache_{result}", 0))

    seconds = exclusive(torch["seconds"])
    parts = collections.Counter({row["phase"]: row["s"] for row in
                                 report.ask("SELECT phase, sum(dur_ns) / 1e9 AS s FROM compile_phase GROUP BY phase")})
    parts["code_generation"] += parts.pop("toolchain_probe", 0)  # trials of the C++ compiler, which torch counts there
    found.close("time to compile", report.summary["compile_ns"] / 1e9, seconds["all"])
    for phase in PHASES:
        found.close(f"time of {phase}", parts[phase], seconds[phase])
    same("other parts", [phase for phase in parts if phase not in PHASES], [])
    return found.differences, report.summary["compile_ns"] / 1e9, seconds["all"]


def has_torch(candidate):
    code = ("import importlib.util, sys; importlib.util.find_spec('torch') or sys.exit(1); import torch; "
            f"sys.exit(tuple(map(int, torch.__version__.split('.')[:2])) < {OLDEST})")
    try:
        return subprocess.run([candidate, "-c", code], capture_output=True, check=False, timeout=120).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def main(program, backend, *pythons):
    os.environ.pop("TORCH_LOGS", None)  # an empty value is an error
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"  # else torch loads TorchTPU, which looks for a TPU
    program, runs = pathlib.Path(program).resolve(), ("cold", "warm") if pythons else ("cold",)
    if not pythons:
        pythons = [path for path in (python("torchtpu"), python("torch"), "python3") if has_torch(path)][:1]
    if not pythons:
        print("skipped: no Python here has torch 2.6 or newer, which scripts/env torch installs")
        return 77
    failures = 0
    for path in pythons:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name in runs:
                trace = folder / name
                torch = last_json(run(path, HERE / "compile_program.py", backend, timeout=900, TORCH_TRACE=str(trace),
                                      TORCHINDUCTOR_CACHE_DIR=str(folder / "cache")))
                differences, ours_s, theirs_s = compare(Report(program, folder, trace), torch)
                print(f"torch {torch['torch']}, {backend}, {name} cache: {torch['counters']['frames']['ok']} compilations, "
                      f"{ours_s:.3f} s here and {theirs_s:.3f} s there; {len(differences) or 'no'} differences")
                print("".join(f"  {difference}\n" for difference in differences), end="", flush=True)
                failures += bool(differences)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
