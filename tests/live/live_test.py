#!/usr/bin/python3
"""live_test.py BUILD tests captures between running programs, ours and theirs.

torch_xla's and JAX's own clients take a profile of a program of ours, and XProf shows its steps; `xlaprof capture` takes one
of a torch_xla and of a JAX program. BUILD is a build directory, such as build/dev; `scripts/env torch` and `scripts/env jax`
must have been run. scripts/judge calls it."""
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from programs import HERE, ask, free_port, python, run

BUILD = pathlib.Path()


@contextlib.contextmanager
def program(*command, **environment):
    """Runs a program that serves captures as long as the block lasts. PORT in the command stands for its port."""
    port = free_port()
    words = [str(port) if word == "PORT" else str(word) for word in command]
    environment = {name: value.replace("PORT", str(port)) for name, value in environment.items()}
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **environment})
    try:
        yield port
    finally:
        process.kill()
        process.wait()


class Live(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def profile_of_ours(self):
        files = list(self.folder.glob("plugins/profile/*/*.xplane.pb"))
        self.assertEqual(len(files), 1, files)
        view = json.loads(run(python("jax"), HERE / "xprof_view.py", files[0]))
        self.assertGreater(len(view["steps"]), 20)
        self.assertTrue(all(label.startswith("train ") for label in view["labels"]), view["labels"])
        self.assertGreater(len(view["labels"]), 20)
        self.assertIn("main", view["threads"])
        for name in ("input", "forward", "optimizer"):
            self.assertIn(name, view["names"])

    def test_torch_xla_takes_a_profile_of_ours(self):
        with program(BUILD / "tests/served_program", 120, XLAPROF_SERVE="PORT") as port:
            run(python("torch"), HERE / "torch_client.py", port, self.folder)
        self.profile_of_ours()

    def test_jax_takes_a_profile_of_ours(self):
        with program(BUILD / "tests/served_program", 120, XLAPROF_SERVE="PORT") as port:
            run(python("jax"), "-m", "jax.collect_profile", port, 1000, "--log_dir", self.folder, "--no_perfetto_link")
        self.profile_of_ours()

    def test_a_program_that_is_recorded_anyway(self):
        store = self.folder / "run.xlaprof"
        with program(BUILD / "tests/served_program", 120, XLAPROF_SERVE="PORT", XLAPROF_RECORD=str(store)) as port:
            run(python("jax"), "-m", "jax.collect_profile", port, 1000, "--log_dir", self.folder, "--no_perfetto_link")
        self.profile_of_ours()

    def capture(self, *ports):
        store = self.folder / "run.xlaprof"
        run(BUILD / "xlaprof", "capture", *[f"localhost:{port}" for port in ports], "--duration", "2s", "--retry", 60, "-o",
            store)
        return store

    def ask(self, store, sql):
        return ask(BUILD / "xlaprof", store, sql)

    def check(self, store, source):
        self.assertEqual(self.ask(store, "SELECT format, imported FROM source WHERE path = '%s'" % source),
                         [{"format": "xspace", "imported": 1}])
        for process in self.ask(store, "SELECT process_id AS p, count(*) AS n, count(DISTINCT name) AS names FROM step GROUP BY 1"):
            self.assertGreater(process["n"], 20)
            self.assertEqual(process["names"], 1)
        self.assertGreater(self.ask(store, "SELECT count(*) AS n FROM event WHERE name = 'forward'")[0]["n"], 20)
        self.assertGreater(self.ask(store, "SELECT count(*) AS n FROM execution WHERE dur_ns > 0")[0]["n"], 20)
        report = json.loads(run(BUILD / "xlaprof", "report", store, "--format", "json"))
        self.assertGreater(report["summary"]["steps"], 20)
        self.assertGreater(report["summary"]["execution_count"], 20)

    def test_capture_of_torch_xla(self):
        with program(python("torch"), HERE / "torch_program.py", "PORT", 200) as port:
            self.check(self.capture(port), f"localhost:{port}")

    def test_capture_of_jax_and_ours_as_one_run(self):
        with program(python("jax"), HERE / "jax_program.py", "PORT", 200) as port, \
                program(BUILD / "tests/served_program", 200, XLAPROF_SERVE="PORT") as own:
            store = self.capture(port, own)
            self.check(store, f"localhost:{port}")
            self.assertEqual(len(self.ask(store, "SELECT DISTINCT process_id FROM step")), 2)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
