"""xprof_test.py PROGRAM checks that XProf shows the same for our XSpace exports as for the captures they were made from.

The Python of `scripts/env jax` runs it. For each bundled profile, it compares the events of the trace viewer (process, thread,
name, step) and the step times of the overview page. Then XProf must show the steps of a Kineto trace, which it cannot read
itself, and of a device of a kind that it does not know.
scripts/test --all calls it."""
import collections
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from stores import bundled_captures, store_of_sql  # noqa: E402

# Our file has findings and the category of each name, which the capture lacked. The capture had the programs' HLO,
# which the store lacks and from which XProf draws lines of its own.
OWN_PROCESS = "/device:CUSTOM:xlaprof"
FROM_HLO = ("Source code", "Framework Ops", "Framework Name Scope", "Host Offload Ops")


@contextlib.contextmanager
def quiet():
    """Hides the output of XProf, which logs each of its calls."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def tool(file, name):
    with quiet():
        from xprof.convert import raw_to_tool_data
        data, _ = raw_to_tool_data.xspace_to_tool_data([str(file)], name, {})
    if data is None:
        raise SystemExit(f"xprof_test: XProf does not read {file} ({name})")
    return json.loads(data)


def steps(file):
    """Returns step numbers and times in ms from the overview's step graph."""
    for table in tool(file, "overview_page"):
        if table.get("cols") and table["cols"][0]["id"] == "stepnum":
            names = [column["id"] for column in table["cols"]]
            return [(row["c"][0]["v"], row["c"][names.index("stepTimeMs")]["v"] if "stepTimeMs" in names else
                     sum(cell["v"] for cell in row["c"][1:] if isinstance(cell["v"], float))) for row in table["rows"]]
    return []


def events(file):
    """Counts the events by process, thread, name and step."""
    records = tool(file, "trace_viewer")["traceEvents"]
    names = {}
    for record in records:
        if record.get("name") in ("process_name", "thread_name"):
            names[record["pid"], record["tid"] if record["name"] == "thread_name" else None] = record["args"]["name"]
    found = collections.Counter()
    for record in records:
        if record.get("ph") not in ("X", "i"):
            continue
        process, thread = names[record["pid"], None], names.get((record["pid"], record["tid"]))
        if process == OWN_PROCESS or (thread or "").startswith(FROM_HLO):
            continue
        found[process, thread, record["name"], record.get("args", {}).get("step_name")] += 1
    return found


# A lazy runtime's run of ten steps on its own kind of device. Flows lead from the host to the device.
LANES = """INSERT INTO run (id, label, started_epoch_ns, selected, why) VALUES (1, 'lanes', NULL, 1, 'x');
INSERT INTO source (id, path, format, imported) VALUES (1, 'lanes', 'recording', 1);
INSERT INTO process (id, run_id, source_id, segment, host, pid, rank, name) VALUES (1, 1, 1, 0, 'vm', 7, NULL, NULL);
INSERT INTO track (id, process_id, kind, name, tid, device, parent_id, sort) VALUES (1, 1, 'host_thread', 'main', 7, NULL, NULL, 0), (2, 1, 'device', 'CPU:0', NULL, 'CPU:0', NULL, 1),
  (3, 1, 'device_stream', 'programs', 1, 'CPU:0', 2, 2), (4, 1, 'device_stream', 'kernels', 2, 'CPU:0', 2, 3);
""" + "".join(f"""INSERT INTO step (id, process_id, ordinal, number, name, ts_ns, dur_ns) VALUES ({k + 1}, 1, {k}, {k}, 'train', {k}000000, 900000);
INSERT INTO execution (id, process_id, ordinal, ts_ns, dur_ns, device, step_id) VALUES ({k}, 1, {k}, {k}300000, 600000, 'CPU:0', {k + 1});
INSERT INTO event (id, track_id, ts_ns, dur_ns, name, category, flow_in, flow_out) VALUES
  ({k}1, 1, {k}000000, 900000, 'train', 'step', NULL, NULL), ({k}2, 1, {k}100000, 1000, 'launch', 'execute', NULL, {k + 1}),
  ({k}3, 3, {k}300000, 600000, 'jit_train', 'module', {k + 1}, NULL), ({k}4, 4, {k}300000, 500000, 'fusion.1', 'op', NULL, NULL);
""" for k in range(1, 11))


def lanes_problems(file):
    """Checks the steps of the device, and that its programs are in the steps that launched them."""
    shown, found = steps(file), events(file)
    # XProf numbers the steps that it sees from 0, and drops none on a TPU.
    if [number for number, _ in shown] != [str(k) for k in range(10)] or any(abs(ms - 0.6) > 0.01 for _, ms in shown):
        yield f"steps of the device: {shown}"
    for k in range(1, 11):
        if found["/host:CPU", "main", f"train {k}", f"train {k}"] != 1:
            yield f"step {k} of the host: {found}"
    if not {"Steps", "kernels", "programs"} <= {thread for process, thread, *_ in found if process == "/device:TPU:0"}:
        yield f"threads of the device: {found}"


def main(program):
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        def export(source, name):
            (folder / name).mkdir()
            file = folder / name / "host.xplane.pb"
            subprocess.run([program, "export", source, "--format", "xspace", "-o", file], check=True,
                           stdout=subprocess.DEVNULL)
            return file

        for name, path in bundled_captures().items():
            packed = sorted(path.glob("**/*.xplane.pb.zst")) if path.is_dir() else []
            if not packed:
                continue
            (folder / f"{name}.whole").mkdir()
            theirs = folder / f"{name}.whole/host.xplane.pb"
            subprocess.run(["zstd", "-dqc", packed[0]], check=True, stdout=theirs.open("wb"))
            ours = export(theirs, name)
            a, b = events(theirs), events(ours)
            problems = [f"{n} times only XProf's own: {what}" for what, n in (a - b).items()]
            problems += [f"{n} times only ours: {what}" for what, n in (b - a).items()]
            first, second = steps(theirs), steps(ours)
            if [number for number, _ in first] != [number for number, _ in second] or any(
                    abs(x - y) > 0.002 + 1e-4 * x for (_, x), (_, y) in zip(first, second)):
                problems.append(f"steps: {first} became {second}")
            for problem in problems[:4]:
                print(f"xprof: {name}: {problem}")
            failures += bool(problems)
            print(f"xprof: {name}: {sum(a.values())} events, {len(first)} steps: {'differ' if problems else 'the same'}")
            for done in (theirs.parent, ours.parent):
                shutil.rmtree(done)
        kineto = export(bundled_captures()["sampled_rank-0"], "kineto")
        shown, found = steps(kineto), {step for *_, step in events(kineto)}
        kernels = tool(kineto, "kernel_stats")
        print(f"xprof: kineto: {len(shown)} steps, {len(kernels['rows'])} kernels")
        failures += len(shown) != 2 or not any(step == "ProfilerStep#551 551" for step in found) or len(kernels["rows"]) < 100
        (folder / "lanes.sql").write_text(LANES)
        lanes = store_of_sql(folder / "lanes.sql", folder / "lanes.xlaprof", pathlib.Path(program).with_name("xlaprof_sqlite.so"))
        problems = list(lanes_problems(export(lanes, "lanes")))
        for problem in problems:
            print(f"xprof: lanes: {problem}")
        failures += bool(problems)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
