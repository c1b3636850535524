#!/usr/bin/python3
"""stacks_test.py XLAPROF PYTHON RECORDED_PROGRAM compares `xlaprof stacks` of programs that hang with what they say of themselves.

PYTHON's environment has py-spy, which reads the stacks of a job of Python processes. gdb reads those of RECORDED_PROGRAM, which
records its scopes."""
import collections
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
RANKS = 4


def said_by(launcher):
    """Returns what the ranks say of themselves, each just before it hangs."""
    said = [json.loads(launcher.stdout.readline()) for _ in range(RANKS)]
    time.sleep(1)
    return said


def look(program, pid, path, *options):
    done = subprocess.run([program, "stacks", str(pid), "--format", "json", *options], capture_output=True, text=True, timeout=600,
                          env={**os.environ, "PATH": path})
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout)


def state(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def compare(seen, launcher, said):
    differences = []

    def same(what, ours, theirs):
        if ours != theirs:
            differences.append(f"{what}: xlaprof {ours}, the program {theirs}")

    same("processes", {p["pid"]: p["rank"] for p in seen["processes"]}, {launcher.pid: None, **{s["pid"]: s["rank"] for s in said}})
    same("tools", {p["tool"] for p in seen["processes"]}, {"py-spy"})
    user = collections.Counter()  # (pid, thread, function, line) of the program's innermost frame
    for group in seen["groups"]:
        frame = next((f for f in group["frames"] if f["file"] and f["file"].endswith("stacks_program.py")), None)
        for thread in group["threads"]:
            if frame and not group["idle"]:
                user[thread["pid"], thread["name"], frame["function"], frame["line"]] += 1
    planted = {(s["pid"], name, *place) for s in said for name, place in s["planted"].items()}
    same("threads of the ranks", {key for key in user if key[0] != launcher.pid}, planted)
    first = seen["groups"][0]
    same("first group", {thread["pid"] for thread in first["threads"]}, {s["pid"] for s in said if s["planted"]["MainThread"][0] == "load"})
    idle = [group for group in seen["groups"] if group["idle"]]
    same("idle threads", sum(len(group["threads"]) for group in idle), 2 * RANKS)
    same("idle groups are last", [group["idle"] for group in seen["groups"]], sorted(group["idle"] for group in seen["groups"]))
    for process in seen["processes"]:
        same(f"state of {process['pid']} afterwards", state(process["pid"]), "S")
    return differences


def python_job(program, python):
    launcher = subprocess.Popen([python, HERE / "stacks_program.py"], stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        said = said_by(launcher)
        # py-spy is found in the environment of the process, or on PATH.
        differences = compare(look(program, launcher.pid, "/nowhere"), launcher, said)
        path = f"{pathlib.Path(python).parent}:{os.environ['PATH']}"
        differences += compare(look(program, launcher.pid, path, "--all"), launcher, said)
    finally:
        os.killpg(launcher.pid, signal.SIGKILL)
    print(f"{len(said)} ranks: xlaprof and the program name {sum(len(s['planted']) for s in said)} places")
    return differences


def recorded_program(program, recorded):
    differences = []
    with tempfile.TemporaryDirectory() as folder:
        hangs = subprocess.Popen([recorded, "hang"], env={**os.environ, "XLAPROF_RECORD": f"{folder}/run.xlaprof"}, stdout=subprocess.PIPE)
        try:
            hangs.stdout.readline()
            seen = look(program, hangs.pid, os.environ["PATH"], "--timeout", "120")
            after = state(hangs.pid)
        finally:
            hangs.kill()
    process = seen["processes"][0]
    open_scopes = [[t["thread"], *(s["name"] for s in t["scopes"])] for t in process["open_scopes"]]
    if open_scopes != [["main", "epoch", "train", "allreduce"], ["loader", "load"]]:
        differences.append(f"open scopes: {open_scopes}")
    mains = [g for g in seen["groups"] if any(t["main"] for t in g["threads"])]
    if process["tool"] != "gdb" or not any(f["function"] == "main" for f in mains[0]["frames"]):
        differences.append(f"{process['tool']} does not show main(): {mains}")
    if after != "S":
        differences.append(f"the program's state afterwards: {after}")
    return differences


def main():
    program, python, recorded = sys.argv[1:]
    differences = python_job(program, python) + recorded_program(program, recorded)
    for difference in differences:
        print(difference)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
