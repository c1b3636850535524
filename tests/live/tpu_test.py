#!/usr/bin/python3
"""tpu_test.py XLAPROF PYTHON compares reports on TORCH_TRACE and the log of TorchTPU with what TorchTPU's cache counted itself.

PYTHON is that of scripts/env torchtpu. TorchTPU compiles and runs on the CPU, through pjrt_cpu_plugin.cc, so all but the times of a
device is real. The report must have the same executions, compilations and sum of times, from the trace and the log together and from
each alone as far as it shows them, and name the planted faults. `xlaprof capture` of a program that trains must have the executions
and compilations of these seconds, also when its answer is joined with the trace and the log of the whole run."""
import os
import pathlib
import subprocess
import sys
import tempfile

from programs import HERE, Report, ask, free_port, last_json, run

CLOSE = 0.01  # the greatest relative difference of two sums of times
EDGE_NS = 50_000_000  # the log begins a compilation by so much earlier than the profile at most


def plugin(python, folder):
    """Builds our plugin and returns the environment variables that make TorchTPU use it."""
    built = folder / "plugin.so"
    subprocess.run(["g++", "-std=c++20", "-shared", "-fPIC", "-o", built, HERE / "pjrt_cpu_plugin.cc", "-ldl"], check=True)
    packages = pathlib.Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    return {"TPU_LIBRARY_PATH": str(built), "XLAPROF_PJRT_PLUGIN": str(packages / "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so"),
            "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}


def compare(name, report, tpu, has_times=True, has_steps=True):
    """Prints and returns the differences, one sentence each."""
    differences = []

    def same(what, ours, theirs):
        if ours != theirs:
            differences.append(f"{what}: xlaprof {ours}, TorchTPU {theirs}")

    summary, planted = report.summary, tpu["planted"]
    same("executions", summary["execution_count"], tpu["requests"])
    same("compilations", summary["compile_count"], tpu["compilations"])
    if has_steps:
        same("steps", summary["steps"], len(planted["sizes"]))
    if has_times:
        ours_s, theirs_s = (summary["compile_ns"] or 0) / 1e9, sum(tpu["seconds"])
        if abs(ours_s - theirs_s) > CLOSE * theirs_s:
            differences.append(f"time to compile: xlaprof {ours_s:.3f} s, TorchTPU {theirs_s:.3f} s")
    print(f"{name}: {summary['compile_count']} compilations, {summary['execution_count']} executions, "
          f"{len(differences) or 'no'} differences")
    return differences


def faults(report, tpu, reads):
    """Returns how the findings differ from what the program does on purpose."""
    planted, differences = tpu["planted"], []
    sizes = [f["reason"]["type"] for f in report.findings("recompilation") if f["subject"]["line"] == planted["line"]]
    if sizes != ["shape_change"]:
        differences.append(f"recompilation at line {planted['line']}: {sizes}, and not shape_change")
    counts = [f["count"] for f in report.findings("sync_point")]
    if counts != ([len(planted["sizes"])] if reads else []):
        differences.append(f"reads: {counts}")
    return differences


def captured(program, python, folder, fuses, variables):
    """Captures three seconds of a program that trains. Returns what it counted, and the store, the answer, the trace and the log."""
    store, kept, trace, log = (folder / f"captured {fuses}{end}" for end in (".xlaprof", "", " trace", ".txt"))
    port = free_port()
    environment = {**os.environ, **variables, "TORCH_TRACE": str(trace), "TF_CPP_VMODULE": "compilation_cache=2",
                   "TORCH_TPU_DEFER_AND_FUSE": str(fuses)}
    with open(log, "w", encoding="utf-8") as stderr, \
            subprocess.Popen([python, HERE / "tpu_program.py", "synchronize", str(port)], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=stderr, env=environment, text=True) as process:
        try:
            if "trains\n" not in process.stdout:  # reads until then
                raise AssertionError(log.read_text(encoding="utf-8")[-4000:])
            run(program, "capture", f"localhost:{port}", "--duration", "3s", "--retry", 5, "-o", store, "--keep", kept)
            output, _ = process.communicate(timeout=120)
        finally:
            process.kill()
    return last_json(output), store, kept, trace, log


def compare_capture(name, program, store, tpu):
    """Prints and returns how a capture differs from what TorchTPU counted until its first and its last event."""
    base = int(ask(program, store, "SELECT value FROM meta WHERE key = 'base_epoch_ns'")[0]["value"])
    window = ask(program, store, "SELECT min(ts_ns) AS begin, max(ts_ns + coalesce(dur_ns, 0)) AS end FROM event")[0]
    begin, end = base + window["begin"], base + window["end"]
    counts, differences, ours = tpu["counts"], [], []
    for column, table in ((1, "execution"), (2, "compile")):
        def until(time_ns):  # at the last step that ended before, and at the next one
            before = [row[column] for row in counts if row[0] <= time_ns]
            after = [row[column] for row in counts if row[0] > time_ns]
            return before[-1] if before else 0, after[0] if after else counts[-1][column]
        (begin_least, begin_most), (end_least, end_most) = until(begin), until(end)
        ours.append(ask(program, store, f"SELECT count(*) AS n FROM {table}")[0]["n"])
        if ours[-1] == 0 or not end_least - begin_most <= ours[-1] <= end_most - begin_least:
            differences.append(f"{table}s captured: xlaprof {ours[-1]}, TorchTPU {end_least - begin_most} to {end_most - begin_least}")
    untimed = ask(program, store, "SELECT count(*) AS n FROM compile WHERE dur_ns IS NULL OR function IS NULL")[0]["n"]
    if untimed:
        differences.append(f"{untimed} captured compilations have no time or no name")
    print(f"{name}: {ours[1]} compilations, {ours[0]} executions, {len(differences) or 'no'} differences")
    return differences


def joined(report, store, tpu):
    """Returns how the compilations of the whole run differ from TorchTPU's in time, and how those that are drawn differ from the
    captured ones. These are the log's of the same seconds."""
    differences = []
    ours_s, theirs_s = report.ask("SELECT sum(dur_ns) / 1e9 AS s FROM compile")[0]["s"], sum(tpu["seconds"])
    if abs(ours_s - theirs_s) > CLOSE * theirs_s:
        differences.append(f"time to compile: xlaprof {ours_s:.3f} s, TorchTPU {theirs_s:.3f} s")
    captured_n = ask(report.program, store, "SELECT count(*) AS n FROM compile")[0]["n"]
    window = report.ask("SELECT min(ts_ns) AS begin, max(ts_ns + coalesce(dur_ns, 0)) AS end FROM event")[0]
    drawn = report.ask("SELECT ts_ns FROM compile WHERE track_id IS NOT NULL")
    outside = [row for row in drawn if not window["begin"] - EDGE_NS <= row["ts_ns"] <= window["end"]]
    if len(drawn) != captured_n or outside:
        differences.append(f"of {captured_n} captured compilations, {len(drawn)} are drawn, {len(outside)} of them at other times")
    return differences


def main(program, python):
    program = pathlib.Path(program).resolve()
    differences = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        variables = plugin(python, folder)
        for name, mode, fuses in (("fused", "synchronize", 1), ("fused, reads", "read", 1), ("one by one", "synchronize", 0)):
            trace, log = folder / name, folder / f"{name}.txt"
            tpu = last_json(run(python, HERE / "tpu_program.py", mode, log=log, TORCH_TRACE=str(trace),
                                TF_CPP_VMODULE="compilation_cache=2", TORCH_TPU_DEFER_AND_FUSE=str(fuses), **variables))
            name = f"TorchTPU {tpu['torch_tpu']}, {name}"
            both = Report(program, folder, trace, log)
            differences += compare(f"{name}, trace and log", both, tpu)
            if fuses:  # else each operation is a graph, and several findings share the fault
                differences += faults(both, tpu, mode == "read")
            differences += compare(f"{name}, log alone", Report(program, folder, log), tpu)
            differences += compare(f"{name}, trace alone", Report(program, folder, trace), tpu, has_times=False)
        for fuses in (1, 0):
            tpu, store, kept, trace, log = captured(program, python, folder, fuses, variables)
            name = f"TorchTPU {tpu['torch_tpu']}, {'fused' if fuses else 'one by one'}"
            differences += compare_capture(f"{name}, live capture", program, store, tpu)
            together = Report(program, folder, trace, log, kept)
            # The report's times are those of the capture. The run is long enough that a busy machine divides a step.
            differences += compare(f"{name}, capture, trace and log", together, tpu, has_times=False, has_steps=False)
            differences += joined(together, store, tpu)
    print("".join(f"  {difference}\n" for difference in differences), end="")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
