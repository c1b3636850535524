"""What the tests of this folder share: they run programs of other frameworks and ask xlaprof about them."""
import json
import os
import pathlib
import socket
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = ROOT / "tests/live"


def python(environment):
    """Returns the Python of an environment of scripts/env, which may not exist."""
    said = subprocess.run([ROOT / "scripts/env", "--path", environment], check=True, capture_output=True, text=True)
    return pathlib.Path(said.stdout.strip()) / "bin/python"


def run(*command, timeout=300, log=None, **environment):
    """Runs a command and returns its output. Its error output goes to the file `log`, if one is given."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, timeout=timeout, env={**os.environ, **environment})
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    if log:
        pathlib.Path(log).write_text(done.stderr, encoding="utf-8")
    return done.stdout


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask(program, store, sql):
    return json.loads(run(program, "query", store, sql, "--format", "json"))


def last_json(output):
    return json.loads(output.strip().splitlines()[-1])


class Report:
    """What xlaprof says of some files: the report as JSON, and answers of the store."""

    def __init__(self, program, folder, *files):
        self.program, self.store = program, folder / "run.xlaprof"
        run(program, "import", *files, "-o", self.store, "--force")
        self.json = json.loads(run(program, "report", self.store, "--format", "json"))
        self.summary = self.json["summary"]

    def ask(self, sql):
        return ask(self.program, self.store, sql)

    def findings(self, kind):
        return [finding for finding in self.json["findings"] if finding["kind"] == kind]
