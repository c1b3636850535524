#!/usr/bin/python3
"""recording_test.py BUILD: records Python programs with the package of a build, and reads the files with the build's program.
PYTHONS=PYTHON:PYTHON... runs the recorded programs with each of these, instead of with this one."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
PROGRAM = os.environ.get("XLAPROF_PROGRAM") or BUILD / "xlaprof"
PYTHONS = os.environ.get("PYTHONS", sys.executable).split(":")


def query(path, sql):
    done = subprocess.run([PROGRAM, "query", path, sql, "--format", "json"], text=True, capture_output=True)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return [tuple(row.values()) for row in json.loads(done.stdout)]


ARGUMENT = "(SELECT value FROM arg WHERE event_id = event.id AND key = '{}')"
LINES = f"SELECT DISTINCT name, {ARGUMENT.format('source_line')} FROM event ORDER BY name"


class Programs(unittest.TestCase):
    """Each test runs a program, which is recorded by its environment."""

    def check_program(self, text, check, **environment):
        """Runs a program with each Python, and calls check(files, stdout)."""
        for python in PYTHONS:
            with self.subTest(python=python), tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                (folder / "train.py").write_text(textwrap.dedent(text))
                own = {"PYTHONPATH": str(BUILD / "python"), "XLAPROF_RECORD": f"{folder}/runs/", "XLAPROF_PROGRAM": str(PROGRAM)} | environment
                done = subprocess.run([python, "train.py"], text=True, capture_output=True, cwd=folder,
                                      env={key: value for key, value in (os.environ | own).items() if value})
                self.assertEqual(done.returncode, 0, done.stderr)
                self.said = done.stderr
                check(sorted((folder / "runs").glob("*")), done.stdout)

    def test_scopes_steps_and_counters_have_arguments_and_lines(self):
        def check(files, _):
            [file] = files
            self.assertEqual(query(file, "SELECT number, dur_ns > 0 FROM step ORDER BY ordinal"), [(n, 1) for n in (1, 2, 3)])
            self.assertEqual(query(file, LINES), [("decorated", 12), ("forward", 5), ("made 1", None), ("made 2", None), ("made 3", None),
                                                  ("now", 7), ("step", None), ("twice", None)])
            arguments = query(file, "SELECT key, value FROM arg WHERE key IN ('layer', 'rate', 'what', 'is_last', 'later') ORDER BY event_id, key")
            self.assertEqual(arguments[:5], [("is_last", 1), ("later", 0.25), ("layer", 1), ("rate", 0.5), ("what", "dense")])
            self.assertEqual(len(arguments), 15)
            self.assertEqual(query(file, "SELECT t.name, s.value FROM counter_sample s JOIN track t ON t.id = s.track_id ORDER BY s.ts_ns"),
                             [("loss", 1), ("loss", 0.5), ("loss", 0.25)])
            self.assertEqual(query(file, "SELECT t.name, p.name FROM track t JOIN process p ON p.id = t.process_id WHERE t.kind = 'host_thread'"),
                             [("MainThread", "train.py")])
            self.assertEqual(query(file, "SELECT count(*) FROM event WHERE dur_ns = 0 AND name = 'now'"), [(3,)])

        self.check_program("""\
            import xlaprof

            class Net:
                def forward(self, n):
                    with xlaprof.trace("forward", layer=n, rate=0.5, what="dense", is_last=True) as scope:
                        scope.add(later=0.25)
                        xlaprof.instant("now")
                        xlaprof.counter("loss", 1 / n)
                    with xlaprof.trace("twice"): pass
                    with xlaprof.trace("twice"): pass

            @xlaprof.trace("decorated", flag=1)
            def decorated(a, b=2):
                return a + b

            for n in (1, 2, 4):
                with xlaprof.step(n if n < 4 else 3):
                    Net().forward(n)
                    assert decorated(1) == 3
                    with xlaprof.trace(f"made {n if n < 4 else 3}"): pass
            """, check)

    def test_scopes_may_end_in_any_order_and_on_any_thread(self):
        def check(files, printed):
            [file] = files
            self.assertEqual(query(file, "SELECT name, count(*) FROM event WHERE dur_ns IS NOT NULL GROUP BY name ORDER BY name"),
                             [("after", 2), ("coroutine", 20), ("elsewhere", 1), ("generator", 2), ("inner", 40)])
            self.assertEqual(query(file, "SELECT depth FROM event WHERE name = 'after'"), [(0,), (0,)])
            self.assertEqual(query(file, "SELECT count(*) FROM import_issue"), [(0,)])
            self.assertEqual(query(file, "SELECT count(*) FROM track WHERE name = 'worker'"), [(1,)])
            kinds = query(file, "SELECT DISTINCT event.name, t.kind FROM event JOIN track t ON t.id = event.track_id ORDER BY 1, 2")
            self.assertEqual(kinds, [("after", "host_thread"), ("coroutine", "async"), ("elsewhere", "host_thread"),
                                     ("generator", "host_thread"), ("inner", "async")])
            self.assertIn("generator", subprocess.run([PROGRAM, "report", file], text=True, capture_output=True, check=True).stdout)

        self.check_program("""\
            import asyncio, threading, xlaprof

            @xlaprof.trace("generator")
            def numbers():
                yield 1
                yield 2

            first, second = numbers(), numbers()
            next(first), next(second)
            first.close()
            second.close()

            @xlaprof.trace("coroutine")
            async def work(n):
                with xlaprof.trace("inner"):
                    await asyncio.sleep(0.001 * (n % 3))
                with xlaprof.trace("inner"):
                    await asyncio.sleep(0)

            async def main():
                await asyncio.gather(*(work(n) for n in range(20)))

            asyncio.run(main())
            scope = xlaprof.trace("elsewhere")
            scope.__enter__()
            def end():
                scope.__exit__(None, None, None)
                with xlaprof.trace("after"): pass
            thread = threading.Thread(target=end, name="worker")
            thread.start()
            thread.join()
            with xlaprof.trace("after"): pass
            """, check)

    def test_forked_children_record_into_files_of_their_own(self):
        def check(files, _):
            names = sorted(query(file, "SELECT group_concat(DISTINCT name) FROM event")[0][0] for file in files)
            self.assertEqual(names, ["child 0", "child 1", "forked", "parent"])
            self.assertEqual([file.suffix for file in files], [".xlaprof"] * 4)  # no ring is left

        self.check_program("""\
            import multiprocessing, os, sys, xlaprof

            def work(n):
                with xlaprof.trace("child %d" % n): pass

            with xlaprof.trace("parent"): pass
            context = multiprocessing.get_context("fork")
            children = [context.Process(target=work, args=(n,)) for n in range(2)]
            for child in children: child.start()
            for child in children: child.join()
            assert all(child.exitcode == 0 for child in children)
            child = os.fork()
            if child == 0:
                with xlaprof.trace("forked"): pass
                sys.exit(0)
            os.waitpid(child, 0)
            """, check)

    def test_a_program_that_closes_its_descriptors_keeps_its_files(self):
        """Regression: the recorder wrote into files of the program, and removed one."""
        def check(files, printed):
            self.assertEqual(len(files), 2)
            self.assertEqual(sorted(query(file, "SELECT count(*) FROM event WHERE name = 'work'")[0][0] for file in files), [5, 2000])
            self.assertEqual(printed.split(), ["kept"])

        self.check_program("""\
            import os, subprocess, sys, time, xlaprof
            def work(n):
                for _ in range(n):
                    with xlaprof.trace("work"):
                        pass
            if len(sys.argv) > 1:
                work(5)
                sys.exit()
            work(1000)
            os.closerange(3, 1024)
            files = [os.open(f"user_{i}", os.O_RDWR | os.O_CREAT | os.O_TRUNC) for i in range(20)]
            for file in files:
                os.write(file, b"first\\n")
            subprocess.run([sys.executable, __file__, "child"], close_fds=True, check=True)
            work(1000)
            time.sleep(0.3)
            for file in files:
                os.write(file, b"last\\n")
                os.close(file)
            texts = {open(f"user_{i}").read() for i in range(20)}
            print("kept" if texts == {"first\\nlast\\n"} else texts)
            """, check)

    def test_a_recording_ends_with_its_block_or_with_the_program(self):
        def check(files, printed):
            self.assertEqual(printed.split(), ["False", "True", "False", "1", "True"])
            self.assertEqual(sorted(query(file, "SELECT name FROM event") for file in files), [[("first",)], [("last",)]])

        self.check_program("""\
            import xlaprof
            print(xlaprof.is_recording())
            with xlaprof.profile("runs") as recording:
                print(xlaprof.is_recording())
                with xlaprof.trace("first"): pass
            print(xlaprof.is_recording())
            print(recording.stats["events"])
            with xlaprof.trace("lost"): pass
            recording = xlaprof.profile("runs").start()
            try:
                xlaprof.profile("other").start()
            except RuntimeError as error:
                print("already being recorded" in str(error))
            with xlaprof.trace("last"): pass
            """, check, XLAPROF_RECORD="")

    def test_a_profile_joins_the_recording_of_the_environment(self):
        def check(files, printed):
            self.assertEqual(printed.split(), ["True", "True", "runs", "None"])
            self.assertEqual([query(file, "SELECT name FROM event ORDER BY ts_ns") for file in files], [[("inside",), ("after",)]])

        self.check_program("""\
            import os, xlaprof
            with xlaprof.profile("other") as recording:
                print(xlaprof.is_recording())
                with xlaprof.trace("inside"): pass
            print(xlaprof.is_recording(), os.path.basename(recording.path.rstrip("/")), recording.stats)
            with xlaprof.trace("after"): pass
            """, check)

    def test_errors_are_those_of_the_program(self):
        def check(files, printed):
            self.assertEqual(printed.split("\n"), ["ZeroDivisionError", "open already", "TypeError", "TypeError", "TypeError", "5", "async", "True", "<xlaprof scope 'a'>", ""])
            self.assertEqual(query(files[0], "SELECT count(*) FROM event WHERE name = 'raises' AND dur_ns IS NOT NULL"), [(1,)])

        self.check_program("""\
            import asyncio, contextlib, sys, xlaprof
            try:
                with xlaprof.trace("raises"):
                    1 / 0
            except ZeroDivisionError:
                print("ZeroDivisionError")
            scope = xlaprof.trace("a")
            with scope:
                try:
                    with scope: pass
                except RuntimeError as error:
                    print("open already" if "open already" in str(error) else error)
            for wrong in (lambda: xlaprof.trace(7), lambda: xlaprof.step("x"), lambda: xlaprof.counter("x", object())):
                try:
                    wrong()
                except TypeError:
                    print("TypeError")
            with contextlib.ExitStack() as stack:
                for n in range(5):
                    stack.enter_context(xlaprof.trace("stacked", many=n, a=1, b=2, c=3, d=4, e=5, f=6, g=7, h=8))
            print(n + 1)

            @xlaprof.trace("coroutine")
            async def answer():
                return "async"
            print(asyncio.run(answer()))

            # Scopes hold nothing that they are done with.
            class Thing: pass
            thing = Thing()
            before = sys.getrefcount(thing)
            for n in range(1000):
                with xlaprof.trace("thing %d" % n, thing=thing): pass
                xlaprof.trace("not entered", thing=thing)
            print(sys.getrefcount(thing) == before)
            print(xlaprof.trace("a"))
            """, check)

    def test_values_are_read_without_waiting_for_a_device(self):
        def check(files, _):
            values = query(files[0], "SELECT key, value FROM arg WHERE key NOT LIKE 'source%' ORDER BY key")
            self.assertEqual(values, [("big", 1e30), ("list", "[1, two, 0.5]"), ("none", "None"), ("other", "?"), ("tensor", "float32[2,3]")])

        self.check_program("""\
            import xlaprof

            class Tensor:
                shape, dtype = (2, 3), "torch.float32"
                def __str__(self):
                    raise AssertionError("this waits for the device")
                __repr__ = __int__ = __index__ = __float__ = __str__

            class Other:
                def __str__(self):
                    raise ValueError

            with xlaprof.trace("scope", big=10**30, list=[1, "two", 0.5], none=None, tensor=Tensor(), other=Other()):
                pass
            """, check)

    def test_a_report_at_the_end(self):
        def check(files, printed):
            self.assertIn("3 steps", printed)
            self.assertEqual(files, [])

        self.check_program("""\
            import xlaprof
            for n in xlaprof.steps(range(3)):
                pass
            """, check, XLAPROF_RECORD="", XLAPROF_REPORT="1")

    def test_doctests(self):
        def check(files, printed):
            self.assertRegex(printed, r"^(\d+ of \d+ \w+\n)+$")
            self.assertEqual(printed.count("0 of"), printed.count("\n"))

        self.check_program("""\
            import doctest, pathlib, pkgutil, xlaprof
            for module in ("xlaprof", "xlaprof._recording"):
                done = doctest.testmod(__import__(module, fromlist=["x"]))
                assert done.attempted > 0
                print(done.failed, "of", done.attempted, "failed")
            """, check, XLAPROF_RECORD="")


if __name__ == "__main__":
    unittest.main()
