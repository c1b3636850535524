#!/usr/bin/python3
"""run_test.py XLAPROF TORCH_PYTHON JAX_PYTHON runs programs of tests/live/trained under `xlaprof run` and compares the report with what
the programs do on purpose: the planted line has a warning, and a program without a fault has none."""
import json
import pathlib
import subprocess
import sys
import tempfile

from programs import HERE

PROGRAMS = HERE / "trained"
# The program, the fault, and the kinds of findings that may name it; none: the program is clean.
CASES = [
    ("with_torch_xla.py", "clean", ()),
    ("with_torch_xla.py", "read", ("sync_point",)),
    ("with_torch_xla.py", "loader", ("device_gap", "input_bound")),
    ("with_jax.py", "clean", ()),
    ("with_jax.py", "shape", ("recompilation",)),
    ("with_jax.py", "loader", ("device_gap", "input_bound")),
    ("with_torch_compile.py", "clean", ()),
    ("with_torch_compile.py", "number", ("recompilation", "recompile_limit")),
    ("with_torch_compile.py", "loader", ("device_gap", "input_bound")),
]


def planted_line(program, fault):
    """Returns the number of the line that ends in the comment `planted: FAULT`."""
    lines = (PROGRAMS / program).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# planted: {fault}"))


def judge(xlaprof, python, program, fault, kinds, folder):
    """Returns the differences, one sentence each."""
    out = folder / f"{program}.{fault}"
    done = subprocess.run([xlaprof, "run", "-o", out, "--", python, PROGRAMS / program, fault], capture_output=True, text=True, timeout=600)
    if done.returncode != 0 or "trained" not in done.stdout:
        return [f"the program ended with {done.returncode}: {done.stderr[-2000:]}"]
    report = json.loads(subprocess.run([xlaprof, "report", out, "--format", "json"], check=True, capture_output=True).stdout)
    roots = [finding for finding in report["findings"] if finding["severity"] != "info" and not finding["because_of"]]
    for finding in roots:
        print(f"    {finding['severity']} {finding['kind']}: {finding['title']} ({finding['subject']['file']}:{finding['subject']['line']})")
    differences = []
    [observed] = report["summary"]["observed_processes"]
    if observed["problem"] or observed["profile_error"] or not observed["profile_dur_ns"]:
        differences.append(f"not all was recorded: {observed}")
    if not kinds:
        differences += [f"it warns of {finding['title']}" for finding in roots]
    else:
        line = planted_line(program, fault)
        right = [f for f in roots if f["kind"] in kinds and f["subject"]["line"] == line and f["subject"]["file"].endswith(program)]
        if not right:
            differences.append(f"no warning names line {line}")
        differences += [f"it also warns of {f['title']}" for f in roots if f["kind"] not in kinds]
    return differences


def main():
    xlaprof, torch_python, jax_python = sys.argv[1:4]
    wanted = sys.argv[4:]
    failed = 0
    with tempfile.TemporaryDirectory() as kept:
        for program, fault, kinds in CASES:
            if wanted and f"{program}:{fault}" not in wanted:
                continue
            python = jax_python if program == "with_jax.py" else torch_python
            differences = judge(xlaprof, python, program, fault, kinds, pathlib.Path(kept))
            print(f"{program} {fault}: {'; '.join(differences) or 'as planted'}", flush=True)
            failed += bool(differences)
    print(f"{failed} of {len(CASES)} differ")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
