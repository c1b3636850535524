#!/usr/bin/python3
"""tpu_test.py XLAPROF PYTHON compares reports on TORCH_TRACE and the log of TorchTPU with what TorchTPU's cache counted itself.

PYTHON is that of scripts/env torchtpu. TorchTPU compiles and runs on the CPU, through pjrt_cpu_plugin.cc, so all but the times of a
device is real. The report must have the same executions, compilations and sum of times, from the trace and the log together and from
each alone as far as it shows them, and name the planted faults."""
import pathlib
import subprocess
import sys
import tempfile

from programs import HERE, Report, last_json, run

CLOSE = 0.01  # the greatest relative difference of two sums of times


def plugin(python, folder):
    """Builds our plugin and returns the environment variables that make TorchTPU use it."""
    built = folder / "plugin.so"
    subprocess.run(["g++", "-std=c++20", "-shared", "-fPIC", "-o", built, HERE / "pjrt_cpu_plugin.cc", "-ldl"], check=True)
    packages = pathlib.Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    return {"TPU_LIBRARY_PATH": str(built), "XLAPROF_PJRT_PLUGIN": str(packages / "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so"),
            "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}


def compare(name, report, tpu, has_times=True):
    """Prints and returns the differences, one sentence each."""
    differences = []

    def same(what, ours, theirs):
        if ours != theirs:
            differences.append(f"{what}: xlaprof {ours}, TorchTPU {theirs}")

    summary, planted = report.summary, tpu["planted"]
    same("executions", summary["execution_count"], tpu["requests"])
    same("compilations", summary["compile_count"], tpu["compilations"])
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
    print("".join(f"  {difference}\n" for difference in differences), end="")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
