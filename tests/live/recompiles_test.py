#!/usr/bin/python3
"""recompiles_test.py BUILD PYTEST FRAMEWORK=PYTHON... runs pytest with the plugin of a build on the tests of tests/live/recompiles, some of
which must fail.

A test that has a docstring must fail with a message that has each of its lines, and that names the line that ends in `planted: ` and the
test's name, if there is one. The others must pass. No failure shows a line of xlaprof. A FRAMEWORK is jax, torch_compile or torch_xla; PYTEST
is the Python of an environment that has pytest, which the others find by PYTHONPATH."""
import ast
import os
import pathlib
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

from programs import HERE, ROOT

PROGRAMS = HERE / "recompiles"


def plugin(folder):
    """Installs the plugin for Pythons that have `folder` on their path, as the wheel does."""
    info = folder / "xlaprof-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: xlaprof\nVersion: 0\n")
    (info / "entry_points.txt").write_bytes((ROOT / "python/entry_points.txt").read_bytes())


def results(python, program, folder, variables):
    """Runs pytest, and returns what it says of each test: the text of its failure, or ""."""
    report = folder / "report.xml"
    done = subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", program], text=True, capture_output=True,
                          cwd=folder, env={**os.environ, **variables}, timeout=900)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{program.name}: pytest ended with {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    cases = ElementTree.parse(report).iter("testcase")
    return {case.get("name"): "\n".join(f"{problem.get('message')}\n{problem.text}" for problem in [*case.iter("failure"), *case.iter("error")])
            for case in cases}


def compare(program, failures, all_pass=False):
    """Returns the differences, one sentence each."""
    text = program.read_text(encoding="utf-8")
    lines = text.splitlines()
    differences = []
    tests = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    for test in tests:
        expected = [] if all_pass else (ast.get_docstring(test) or "").splitlines()
        failure = failures.get(test.name)
        if failure is None or bool(failure) != bool(expected):
            differences.append(f"{test.name} {'passes' if failure == '' else 'did not run' if failure is None else f'fails: {failure[:2000]}'}")
            continue
        flat = " ".join(failure.replace("\nE  ", "\n").split())
        differences += [f"{test.name} does not say {line!r}: {failure}" for line in expected if " ".join(line.split()) not in flat]
        planted = [number for number, line in enumerate(lines, 1) if line.endswith(f"# planted: {test.name}")]
        if expected and planted and f"{program}:{planted[0]}" not in failure:
            differences.append(f"{test.name} does not name line {planted[0]}: {failure}")
        if "_recompiles/__init__" in failure or "pytest_plugin" in failure:
            differences.append(f"{test.name} shows code of xlaprof: {failure}")
    return differences, len(tests)


def main(build, pytest, *pythons):
    build = pathlib.Path(build).resolve()
    [packages] = (pathlib.Path(pytest).parent.parent / "lib").glob("python3.*/site-packages")
    failed = 0
    for framework, python in (words.split("=", 1) for words in pythons):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            plugin(folder)
            variables = {"PYTHONPATH": f"{build / 'python'}:{folder}:{packages}", "XLAPROF_PROGRAM": str(build / "xlaprof"), "XLAPROF_RECORD": "",
                         "JAX_PLATFORMS": "cpu", "PJRT_DEVICE": "CPU", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
            runs = [(PROGRAMS / f"test_{framework}.py", False)]
            if framework == "jax":
                variables |= {"JAX_COMPILATION_CACHE_DIR": str(folder / "cache"), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
                runs += [(PROGRAMS / "test_jax_cache.py", False), (PROGRAMS / "test_jax_cache.py", True)]
            for program, all_pass in runs:
                differences, count = compare(program, results(python, program, folder, variables), all_pass)
                print(f"{program.name} with {python}: {count} tests, {'; '.join(differences) or 'as planted'}", flush=True)
                failed += bool(differences)
    return 1 if failed or not pythons else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
