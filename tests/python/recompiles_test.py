#!/usr/bin/python3
"""recompiles_test.py BUILD: tests no_recompiles with a stand-in for JAX, which logs and tells what JAX 0.10 logs and tells.
tests/live/recompiles_test.py tests it with the frameworks."""
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import warnings

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(BUILD / "python"))
os.environ.pop("XLAPROF_RECORD", None)
os.environ.setdefault("XLAPROF_PROGRAM", str(BUILD / "xlaprof"))

import xlaprof  # noqa: E402
from xlaprof._recompiles.torch_xla import DebugOutput  # noqa: E402

COMPILE, LOAD = "/jax/core/compile/backend_compile_duration", "/jax/compilation_cache/cache_hits"
LOGGERS = ("dispatch", "interpreters.pxla", "interpreters.partial_eval", "pjit", "compiler", "compilation_cache")


class Jax(types.ModuleType):
    """What no_recompiles uses of JAX. A call of `f` is a call of a jitted function with an argument of so many rows."""

    def __init__(self):
        super().__init__("jax")
        self.events, self.durations, self.compiled, self.stored, self.last = [], [], set(), set(), {}
        self.config = types.SimpleNamespace(jax_log_compiles=False, jax_explain_cache_misses=False)
        self.config.update = lambda name, value: setattr(self.config, name, value)
        self.monitoring = types.ModuleType("jax._src.monitoring")
        self.monitoring.register_event_listener = self.events.append
        self.monitoring.register_event_duration_secs_listener = self.durations.append
        self.monitoring.unregister_event_listener = self.events.remove
        self.monitoring.unregister_event_duration_listener = self.durations.remove

        class TraceMe:
            def __enter__(self):
                return self

            def __exit__(self, *error):
                return None

        class StepTraceAnnotation(TraceMe):
            pass

        self.profiler = types.SimpleNamespace(StepTraceAnnotation=StepTraceAnnotation)

    def log(self, logger, message):
        if self.config.jax_log_compiles:
            logging.getLogger(f"jax._src.{logger}").warning(message)

    def f(self, rows):
        self.call("f", rows, sys._getframe(1).f_lineno)

    def call(self, name, rows, line):
        if (name, rows) in self.compiled:
            return
        if name not in self.last:
            why = f":\n  never seen function:\n    {name} id=1 defined at {__file__}:1"
        else:
            why = (f":\n  for {name} defined at {__file__}:1\n  all previously seen cache keys differ. For the closest previous key:\n"
                   f"  different input types:\n  * at x, now f32[{rows},4] and before f32[{self.last[name]},4]")
        self.log("interpreters.partial_eval", f"TRACING CACHE MISS at {__file__}:{line}:9 (test){why}")
        self.log("dispatch", f"Finished tracing {name} for jit in 0.007 sec")
        self.log("interpreters.pxla", f"Compiling jit({name}) with global shapes and types (ShapedArray(float32[{rows},4]),). Argument mapping: (Any,).")
        self.compiled.add((name, rows))
        self.last[name] = rows
        if rows in self.stored:
            self.log("compiler", f"Persistent compilation cache hit for 'jit_{name}' with key 'jit_{name}-1'")
            for listener in list(self.events):
                listener(LOAD)
        self.log("dispatch", f"Finished XLA compilation of jit({name}) in 0.057 sec")
        for listener in list(self.durations):
            listener(COMPILE, 0.057, fun_name=f"jit({name})")


class NoRecompiles(unittest.TestCase):
    def setUp(self):
        self.jax = sys.modules["jax"] = Jax()
        sys.modules["jax._src.monitoring"] = self.jax.monitoring
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(setattr, tempfile, "tempdir", tempfile.tempdir)
        tempfile.tempdir = folder.name
        self.addCleanup(self.check_nothing_is_left)

    def check_nothing_is_left(self):
        config = self.jax.config
        self.assertEqual((config.jax_log_compiles, config.jax_explain_cache_misses, self.jax.events, self.jax.durations), (False, False, [], []))
        self.assertNotIn("__exit__", vars(self.jax.profiler.StepTraceAnnotation))
        for name in LOGGERS:
            self.assertEqual(logging.getLogger(f"jax._src.{name}").filters, [])
        self.assertEqual(os.listdir(tempfile.tempdir), [])
        del sys.modules["jax"], sys.modules["jax._src.monitoring"]

    def message_of(self, after, *rows):
        with self.assertRaises(xlaprof.Recompiled) as failed, xlaprof.no_recompiles(after=after) as steps:
            for count in steps(rows):
                self.jax.f(count)
        self.assertIsInstance(failed.exception, AssertionError)
        self.error = failed.exception
        return str(failed.exception)

    def test_the_first_steps_may_compile(self):
        with xlaprof.no_recompiles() as steps:
            for count in steps([8, 9, 8, 9]):
                self.jax.f(count)

    def test_a_later_compilation_fails_with_the_finding(self):
        message = self.message_of(2, 8, 8, 9, 8, 10)
        self.assertIn("2 compilations too many, because only steps 1 to 2 may compile:\n  f was compiled in step 3 at " + __file__, message)
        self.assertIn("f was compiled in step 5 at ", message)
        [finding] = self.error.findings
        self.assertEqual((finding.kind, finding.reason, finding.file), ("recompilation", "shape_change", __file__))
        self.assertEqual([(compile.function, compile.step) for compile in self.error.compiles], [("f", 3), ("f", 5)])
        self.assertIn(finding.title, " ".join(message.split()))
        self.assertIn("- f32[8,4]\n", message)
        self.assertIn("+ f32[9,4]\n", message)
        self.assertIn(f"  fix  {finding.advice}"[:60], message)

    def test_a_compilation_whose_predecessor_is_before_the_block_has_the_frameworks_own_words(self):
        self.jax.f(8)
        message = self.message_of(0, 9)
        self.assertIn("1 compilation too many, because no step may compile:", message)
        self.assertIn("why  at x, now f32[9,4] and before f32[8,4]\n  fix  Give this input few sizes", message)
        self.assertEqual(self.error.findings, [])

    def test_a_finding_about_allowed_compilations_is_not_shown(self):
        with self.assertRaises(xlaprof.Recompiled) as failed, xlaprof.no_recompiles(after=2) as steps:
            for number in steps(range(4)):
                if number < 2:
                    self.jax.call("g", 8 - number, 10)
                if number == 3:
                    self.jax.f(8)
        self.assertEqual(failed.exception.findings, [])
        self.assertIn("why  f was not compiled before in this block", str(failed.exception))
        self.assertNotIn("`g`", str(failed.exception))

    def test_a_program_from_a_cache_is_no_compilation(self):
        self.jax.stored.add(9)
        with xlaprof.no_recompiles(after=1) as steps:
            for count in steps([8, 8, 9]):
                self.jax.f(count)
        self.assertIn("1 compilation too many", self.message_of(1, 8, 10))

    def test_the_most_explicit_steps_count(self):
        annotation = self.jax.profiler.StepTraceAnnotation
        with xlaprof.no_recompiles(after=1):
            with annotation():
                self.jax.f(8)
            with annotation():
                pass
        with self.assertRaises(xlaprof.Recompiled) as failed, xlaprof.no_recompiles(after=1):
            for count in (8, 9):
                with annotation():
                    self.jax.f(count)
        self.assertEqual([compile.step for compile in failed.exception.compiles], [2])
        with self.assertRaises(xlaprof.Recompiled) as failed, xlaprof.no_recompiles(after=2) as check:
            for number, count in enumerate((8, 8, 10)):
                with xlaprof.step(number):
                    with annotation():
                        pass
                    with annotation():
                        self.jax.f(count)
        self.assertEqual([compile.step for compile in failed.exception.compiles], [3])
        with xlaprof.no_recompiles(after=1) as check:
            for number in xlaprof.steps(range(4)):
                self.jax.f(20 + number)
                if number == 3:
                    check.step()
                    check.step()

    def test_a_block_that_checks_nothing_is_an_error(self):
        with self.assertRaisesRegex(RuntimeError, "the block ended 2 steps, all of which may compile with after=2"):
            with xlaprof.no_recompiles(after=2) as steps:
                for count in steps([8, 9]):
                    self.jax.f(count)
        with self.assertRaisesRegex(RuntimeError, "the block ended 0 steps"), xlaprof.no_recompiles():
            pass
        with xlaprof.no_recompiles(after=0):
            pass
        with self.assertRaisesRegex(ValueError, "after=-1"):
            xlaprof.no_recompiles(after=-1)

    def test_blocks_lie_in_each_other(self):
        with xlaprof.no_recompiles(after=2) as outer:
            for number in outer(range(4)):
                if number == 0:
                    self.jax.f(8)
                if number == 1:
                    with self.assertRaisesRegex(xlaprof.Recompiled, r"at x, now f32\[7,4\] and before f32\[8,4\]"), xlaprof.no_recompiles(after=0):
                        self.jax.f(7)
                    with xlaprof.no_recompiles(after=0):
                        self.jax.f(7)
                self.assertTrue(self.jax.config.jax_log_compiles)
        with self.assertRaises(xlaprof.Recompiled), xlaprof.no_recompiles(after=0), xlaprof.no_recompiles(after=1) as inner:
            for number in inner(range(2)):
                self.jax.f(9)
        block = xlaprof.no_recompiles(after=0)
        with block, self.assertRaisesRegex(RuntimeError, "open already"):
            block.__enter__()
        with block:  # again
            pass

    def test_an_exception_passes_through(self):
        error = KeyError("of the block")
        with self.assertRaises(KeyError) as caught, xlaprof.no_recompiles(after=0):
            self.jax.f(8)
            raise error
        self.assertIs(caught.exception, error)
        self.assertIsNone(error.__context__)

    def test_the_log_of_the_program_has_only_what_it_asked_for(self):
        with self.assertLogs("jax._src", "WARNING") as logs, xlaprof.no_recompiles(after=1) as steps:
            for count in steps([8, 8]):
                self.jax.f(count)
            logging.getLogger("jax._src.dispatch").warning("something else")
        self.assertEqual([record.getMessage() for record in logs.records], ["something else"])
        self.jax.config.jax_log_compiles = True
        with self.assertLogs("jax._src", "WARNING") as logs, xlaprof.no_recompiles(after=1) as steps:
            for count in steps([9, 9]):
                self.jax.f(count)
        self.assertEqual(len(logs.records), 4)
        self.assertTrue(self.jax.config.jax_log_compiles)
        self.jax.config.jax_log_compiles = False

    def test_a_framework_that_the_block_imports_is_watched_from_the_next_step_on(self):
        jax = sys.modules.pop("jax")
        with self.assertRaises(xlaprof.Recompiled) as failed, xlaprof.no_recompiles(after=1) as steps:
            for count in steps([8, 9]):
                sys.modules["jax"] = jax
                jax.f(count)
        self.assertEqual([compile.step for compile in failed.exception.compiles], [2])
        for after, late in ((0, True), (1, False)):
            del sys.modules["jax"]
            with warnings.catch_warnings(record=True) as warned, xlaprof.no_recompiles(after=after) as steps:
                warnings.simplefilter("always")
                for _ in steps(range(2)):
                    sys.modules["jax"] = jax
            self.assertEqual(len(warned), late, [str(warning.message) for warning in warned])


class TorchTrace(unittest.TestCase):
    def test_a_block_that_closes_all_descriptors_keeps_its_files(self):
        """Regression: the trace of torch was written to a file that the block opened later."""
        program = """if True:
            import logging, os, sys, types
            import xlaprof
            torch, dynamo, internal, structured = (types.ModuleType(name) for name in (
                "torch", "torch._dynamo", "torch._logging._internal", "torch._logging.structured"))
            internal.trace_log = logging.getLogger("torch.__trace")
            internal.trace_log.setLevel(logging.DEBUG)
            internal.TorchLogsFormatter = lambda trace: logging.Formatter("%(message)s")
            structured.INTERN_TABLE = {"train.py": 0}
            sys.modules.update({module.__name__: module for module in (torch, dynamo, internal, structured)})
            def compile(name):
                internal.trace_log.debug(name, extra={"metadata": {"compilation_metrics": {"co_name": name}}})
            def texts():
                [folder] = [name for name in os.listdir() if name.startswith("xlaprof-")]
                [trace] = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]
                return open(trace).read()
            check = xlaprof.no_recompiles(after=9)
            check.__enter__()
            compile("before")
            os.closerange(3, 1024)
            files = [os.open(f"user_{i}", os.O_RDWR | os.O_CREAT) for i in range(20)]
            compile("after")
            print(texts(), end="")
            for file in files:
                os.write(file, b"mine")
                os.close(file)
            for _ in range(10):
                check.step()
            check.__exit__(None, None, None)
            """
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-c", program], cwd=folder, text=True, capture_output=True, timeout=120,
                                  env=os.environ | {"PYTHONPATH": str(BUILD / "python"), "TMPDIR": "."})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.splitlines()[-2:], ["before", "after"])
            self.assertEqual({path.name: path.read_text() for path in pathlib.Path(folder).glob("user_*")},
                             {f"user_{i}": "mine" for i in range(20)})


class PyTorchXlaDebugOutput(unittest.TestCase):
    """PyTorch/XLA reads its variables once, and opens the files by name for each message."""

    def setUp(self):
        self.output = DebugOutput()
        self.known = None  # the file that PyTorch/XLA has read from its environment
        for name in ("PT_XLA_DEBUG", "PT_XLA_DEBUG_LEVEL", "PT_XLA_DEBUG_FILE", "XLA_SAVE_TENSORS_FILE", "XLA_SAVE_TENSORS_FMT"):
            os.environ.pop(name, None)

    def execute(self, text):
        self.known = os.environ.get("PT_XLA_DEBUG_FILE", "") if self.known is None else self.known
        if self.known:
            with open(self.known, "a", encoding="utf-8") as file:
                file.write(text)

    def block(self, *texts):
        """Returns what the output of a block is that executes these."""
        begins = self.output.open()
        for text in texts:
            self.execute(text)
        written = [pathlib.Path(path).read_text()[begins.get(path, 0):] for path in self.output.files()]
        self.output.close()
        return "".join(written)

    def test_each_block_has_its_own_part(self):
        self.assertEqual(self.block(), "")
        self.assertNotIn("PT_XLA_DEBUG_FILE", os.environ)
        self.assertEqual(self.block("a", "b"), "ab")
        self.assertNotIn("PT_XLA_DEBUG_FILE", os.environ)
        self.execute("c" * 10_000)  # which nobody keeps
        self.assertEqual(self.block("d"), "d")
        self.output.open()
        self.execute("e")
        self.assertEqual(self.block("f"), "f")
        self.assertEqual([pathlib.Path(path).read_text() for path in self.output.files()], ["ef"])
        self.output.close()

    def test_what_executes_before_all_blocks_is_no_obstacle_if_the_variables_are_early(self):
        self.execute("a")
        self.assertEqual(self.block("b"), "")
        self.known = None  # as in another process
        self.output.set_early()
        self.execute("a")
        self.assertEqual(self.block("b"), "b")
        self.assertNotIn("PT_XLA_DEBUG_FILE", os.environ)  # which children would inherit
        self.output.unset_early()

    def test_variables_of_the_user_stay(self):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["PT_XLA_DEBUG_FILE"] = f"{folder}/own.txt"
            self.execute("a")
            self.assertEqual(self.block("b"), "b")
            self.assertEqual(pathlib.Path(f"{folder}/own.txt").read_text(), "ab")
            self.assertEqual(os.environ.pop("PT_XLA_DEBUG_FILE"), f"{folder}/own.txt")


unittest.main()
