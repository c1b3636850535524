#!/usr/bin/python3
"""callbacks_test.py BUILD PYTHON trains with Lightning, Hugging Face's Trainer and Keras, and compares what the callbacks of the Python package
record with what the programs of tests/live/callbacks count and time themselves.

Each time that a program noted of the model, of its optimizer and of validation must lie in a scope of its own, and each fetch of data between
two steps. Counters must have the logged values. A program with a callback must read values from the device as often as one without it.
PYTHON is that of `scripts/env callbacks`."""
import pathlib
import sys
import tempfile

from programs import HERE, ask, last_json, run

SLACK_NS = 1_000_000  # between two readings of the clock
# The program, the scopes that a step must have, and variables.
CASES = [("with_lightning.py", ("forward", "backward", "optimizer"), {}),
         ("with_transformers.py", ("forward and backward", "optimizer"), {"USE_TORCH_XLA": "0"}),
         ("with_keras.py", (), {"KERAS_BACKEND": "jax"}),
         ("with_keras.py", (), {"KERAS_BACKEND": "torch"})]


def lies_in(interval, scope):
    return scope[0] - SLACK_NS <= interval[0] and interval[1] <= scope[1] + SLACK_NS


def overlaps(interval, scope):
    return interval[0] + SLACK_NS < scope[1] and scope[0] + SLACK_NS < interval[1]


def compare(program, store, seen, scopes):
    """Returns the differences, one sentence each."""
    differences = []
    [epoch] = ask(program, store, "SELECT value FROM meta WHERE key = 'base_epoch_ns'")
    epoch_ns = int(epoch["value"])

    def intervals(sql):
        """Returns (name or number, (begin, end)) for rows of SQL that end in ts_ns and dur_ns."""
        return [(what, (epoch_ns + int(ts_ns), epoch_ns + int(ts_ns) + int(dur_ns))) for what, ts_ns, dur_ns in
                (row.values() for row in ask(program, store, sql))]

    steps = intervals("SELECT number, ts_ns, dur_ns FROM step ORDER BY ts_ns")
    if [number for number, _ in steps] != list(range(seen["steps"])):
        differences.append(f"the program made {seen['steps']} steps, and recorded {[number for number, _ in steps]}")
    steps = [step for _, step in steps]
    recorded = {}
    for name, scope in intervals("SELECT name, ts_ns, dur_ns FROM event WHERE category = 'scope'"):
        recorded.setdefault(name, []).append(scope)
    for what in (*scopes, "validation"):
        mine, theirs = recorded.get(what, []), seen["intervals"][what]
        homes = [[scope for scope in mine if lies_in(interval, scope)] for interval in theirs]
        if any(len(home) != 1 for home in homes):
            differences.append(f"{what}: {sum(len(home) == 1 for home in homes)} of {len(theirs)} lie in a scope of {len(mine)}")
        if what != "validation" and len(mine) != len(theirs):
            differences.append(f"{what}: {len(theirs)} times, and {len(mine)} scopes")
        if what != "validation" and not all(any(lies_in(scope, step) for step in steps) for scope in mine):
            differences.append(f"{what}: a scope does not lie in a step")
        if what == "validation" and any(overlaps(scope, step) for scope in mine for step in steps):
            differences.append("validation: a scope overlaps a step")
    parts = sorted(scope for what in scopes for scope in recorded.get(what, []))
    if any(later[0] < earlier[1] for earlier, later in zip(parts, parts[1:])):
        differences.append("scopes of a step overlap")
    if not all(any(lies_in(interval, step) for step in steps) for interval in seen["intervals"].get("train", [])):
        differences.append("train: it does not lie in a step")

    fetches = seen["intervals"]["data"]
    inside = [fetch for fetch in fetches if any(overlaps(fetch, step) for step in steps)]
    if inside:
        differences.append(f"{len(inside)} of {len(fetches)} fetches of data lie in a step")
    between_ns = sum(after[0] - before[1] for before, after in zip(steps, steps[1:]))
    fetching_ns = sum(end - begin for begin, end in fetches if begin > steps[0][1] and end < steps[-1][0])
    if not fetching_ns or between_ns < fetching_ns - SLACK_NS * len(steps):
        differences.append(f"between steps lie {between_ns / 1e6:.1f} ms, and fetches of data take {fetching_ns / 1e6:.1f} ms of it")

    counters = {}
    samples = "SELECT t.name AS name, s.value AS value FROM counter_sample s JOIN track t ON t.id = s.track_id ORDER BY s.ts_ns"
    for row in ask(program, store, samples):
        counters.setdefault(row["name"], []).append(row["value"])
    if counters != seen["logged"]:
        differences.append(f"counters: {counters} instead of {seen['logged']}")
    return differences, len(steps), between_ns


def main(build, python):
    build = pathlib.Path(build).resolve()
    failed = 0
    for name, scopes, variables in CASES:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            # Keras writes its settings into the home directory.
            variables = {**variables, "PYTHONPATH": str(build / "python"), "XLAPROF_RECORD": "", "KERAS_HOME": str(folder / "keras")}
            without = last_json(run(python, HERE / "callbacks" / name, folder / "own", **variables))
            seen = last_json(run(python, HERE / "callbacks" / name, folder / "own", folder / "runs", **variables))
            [store] = (folder / "runs").iterdir()
            differences, steps, between_ns = compare(build / "xlaprof", store, seen, scopes)
            if seen["reads"] != without["reads"]:
                differences.append(f"{seen['reads']} values are read from the device, and {without['reads']} without the callback")
            print(f"{name} {variables.get('KERAS_BACKEND', '')}: {steps} steps, {between_ns / 1e6:.0f} ms between them, {seen['reads']} reads; "
                  f"{'; '.join(differences) or 'no differences'}", flush=True)
            failed += bool(differences)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
