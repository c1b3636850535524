"""Runs the programs of the outside project, and checks what their recordings hold."""
import csv
import io
import os
import pathlib
import subprocess


def run(*command, cwd=None, **environment):
    """Runs a command with these variables added to a small environment, and returns what it printed."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), **environment})
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def expect(what, found, wanted):
    if found != wanted:
        raise SystemExit(f"{what}:\n  expected {wanted}\n  found    {found}")


class Store:
    """Reads a recording with the program `xlaprof`."""

    def __init__(self, program, path):
        self.program, self.path = program, path

    def rows(self, sql):
        text = run(self.program, "query", self.path, sql, "--format", "csv")
        return [" ".join(row) for row in csv.reader(io.StringIO(text))][1:]

    def tracks(self):
        """Returns the events of each track, by its kind and name, in order of time."""
        tracks = {}
        for row in self.rows("SELECT t.kind || ' ' || t.name || '|' || e.name FROM event e JOIN track t ON t.id = e.track_id "
                             "ORDER BY t.id, e.ts_ns, e.depth"):
            track, name = row.split("|")
            tracks.setdefault(track, []).append(name)
        return tracks

    def arguments(self, name):
        return dict(row.split("=", 1) for row in self.rows(
            f"SELECT DISTINCT key || '=' || value FROM arg JOIN event e ON e.id = event_id WHERE e.name = '{name}' AND "
            "key NOT LIKE 'source%'"))


def check_cpp(store):
    """Checks what outside.cc records."""
    expect("tracks", store.tracks(), {
        "host_thread main": ["train", "forward", "read", "send", "train", "forward", "read"],
        "host_thread worker": ["work"],
        "async queue": ["job"], "async request": ["request"]})
    expect("arguments of forward", store.arguments("forward"), {"layer": "7", "ratio": "0.5", "what": "conv"})
    expect("arguments of read", store.arguments("read"), {"bytes": "4096", "category": "io"})
    expect("arguments of request", store.arguments("request"), {"id": "12", "status": "done"})
    expect("arguments of job", store.arguments("job"), {"number": "3"})
    expect("steps", store.rows("SELECT name || number FROM step ORDER BY ts_ns"), ["train0", "train1"])
    expect("counter", store.rows("SELECT value FROM counter_sample ORDER BY ts_ns"), ["1.0", "0.5"])
    expect("source line", store.rows("SELECT count(*) FROM arg WHERE key = 'source_file' AND value LIKE '%outside.cc'") != ["0"], True)


def check_c(store):
    """Checks what outside.c records."""
    expect("tracks", store.tracks(), {
        "host_thread main of C": ["train", "here", "read", "inner"] * 3 + ["forward"],
        "async queue of C": ["request"]})
    expect("arguments of forward", store.arguments("forward"), {"layer": "-7", "ratio": "0.5", "what": "conv"})
    expect("steps", store.rows("SELECT name || number FROM step ORDER BY ts_ns"), ["train0", "train1", "train2"])


def check_programs(program, cpp, c, folder, **environment):
    """Runs both programs in each way in which they can be recorded, and checks each recording. `program` is xlaprof."""
    folder = pathlib.Path(folder)
    folder.mkdir()
    # By the API: the child's events are counted.
    out = run(cpp, "api.xlaprof", cwd=folder, **environment)
    expect("statistics", out, "12 events, 0 dropped, 5 forked\n")
    check_cpp(Store(program, folder / "api.xlaprof"))
    # By the environment, into a file and into a folder, where the child has a file of its own.
    run(cpp, cwd=folder, XLAPROF_RECORD="run.xlaprof", **environment)
    check_cpp(Store(program, folder / "run.xlaprof"))
    run(cpp, cwd=folder, XLAPROF_RECORD="runs/", **environment)
    files = sorted((folder / "runs").iterdir())
    expect("files of parent and child", len(files), 2)
    names = [Store(program, file).rows("SELECT DISTINCT name FROM event WHERE name = 'in the child'") for file in files]
    expect("the child's events are in one file", sorted(names), [[], ["in the child"]])
    child = Store(program, files[names.index(["in the child"])])
    expect("the child's events", child.rows("SELECT count(*) FROM event"), ["5"])
    # Categories are switched off by the environment, too.
    run(cpp, cwd=folder, XLAPROF_RECORD="off.xlaprof", XLAPROF_CATEGORIES="-io", **environment)
    expect("scopes of category io", Store(program, folder / "off.xlaprof").rows("SELECT name FROM event WHERE name = 'read'"), [])
    run(c, cwd=folder, XLAPROF_RECORD="c.xlaprof", **environment)
    check_c(Store(program, folder / "c.xlaprof"))
    report = run(program, "report", folder / "run.xlaprof")
    expect("a report of the scopes", "2 steps" in report and "outside.cc:15" in report, True)
