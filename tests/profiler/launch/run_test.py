#!/usr/bin/python3
"""run_test.py XLAPROF checks `xlaprof run` on programs that use small stand-ins for the frameworks, so that it needs none of them.

Each stand-in has the parts of its framework that the hook uses, and behaves as the real one as far as the hook can see. The real
frameworks are judged by tests/live/run_test.py."""
import atexit
import functools
import gzip
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import textwrap
import threading
import time
import types
import unittest

XLAPROF = str(pathlib.Path(sys.argv.pop(1)).resolve())

TORCH_XLA = {
    "torch_xla/__init__.py": """
        import os
        __version__ = "2.9.0"
        class _XLAC:
            marks = compiles = 0
            @classmethod
            def _xla_counter_value(cls, name):
                return {"MarkStep": cls.marks, "UncachedCompile": cls.compiles}.get(name)
            @classmethod
            def _xla_metrics_report(cls):
                return f"Counter: MarkStep\\n  Value: {cls.marks}\\n"
            @classmethod
            def _xla_metric_data(cls, name):
                return (3, 9e8, ((1.5e9, 2e8), (1.5e9 + 1, 3e8))) if name == "CompileTime" else None
        def sync():
            _XLAC.marks += 1
        level, path = os.environ.get("PT_XLA_DEBUG_LEVEL"), os.environ.get("PT_XLA_DEBUG_FILE")
        """,
    "torch_xla/debug/__init__.py": "",
    "torch_xla/debug/profiler.py": """
        import os
        _folder = None
        def start_trace(folder):
            global _folder
            if _folder is not None:
                raise RuntimeError("Profile has already been started. Only one profile may be run at a time.")
            _folder = folder
        def stop_trace():
            global _folder
            where = os.path.join(_folder, "plugins/profile/2026_11_27_20_00_00")
            os.makedirs(where)
            open(os.path.join(where, "vm.xplane.pb"), "wb").close()
            _folder = None
        """,
}
JAX = {
    "jax/__init__.py": """
        import logging, os
        from jax import profiler
        logs = os.environ.get("JAX_LOG_COMPILES") == "1"
        def compile(name):
            if logs:
                logging.getLogger("jax._src.dispatch").warning("Finished XLA compilation of jit(%s) in 0.25 sec", name)
        """,
    "jax/profiler.py": """
        class StepTraceAnnotation:
            def __init__(self, name, **kwargs):
                pass
            def __enter__(self):
                return self
            def __exit__(self, *error):
                pass
        def start_trace(folder):
            raise RuntimeError("no profiler in this stand-in")
        """,
}
TORCH = {
    "torch/__init__.py": """
        from torch import autograd, compiler, optim, profiler
        """,
    "torch/autograd/__init__.py": """
        from torch.autograd import profiler
        def _profiler_enabled(): return False
        """,
    "torch/autograd/profiler.py": """
        import torch
        class profile:
            def _prepare_trace(self):
                if torch.profiler.is_running:
                    raise RuntimeError("Can't enable Kineto profiler when it's already running")
            def __enter__(self):
                self._prepare_trace()
                return self
            def __exit__(self, *error):
                pass
        """,
    "torch/compiler.py": "def is_compiling(): return False",
    "torch/optim/__init__.py": """
        from torch.optim import optimizer
        class SGD:
            def step(self):
                for hook in optimizer.hooks:
                    hook(self, (), {})
        """,
    "torch/optim/optimizer.py": """
        hooks = []
        register_optimizer_step_post_hook = hooks.append
        """,
    "torch/profiler.py": """
        import threading
        is_running = False
        class profile:
            def __init__(self, **options):
                pass
            def start(self):
                global is_running
                self.thread, is_running = threading.get_ident(), True
            def stop(self):
                global is_running
                is_running = False
                if threading.get_ident() != self.thread:
                    raise RuntimeError("Can't disable Kineto profiler when it's not running")
            def export_chrome_trace(self, path):
                open(path, "wb").close()
        """,
}
# Trains until the record of the process has what a test waits for, so that no test depends on how fast the machine is.
TRAIN = """
    import glob, os, time, torch_xla
    def recorded():
        [path] = glob.glob(os.environ["XLAPROF_RUN"] + f"/process.{os.getpid()}.jsonl") or [os.devnull]
        with open(path, encoding="utf-8") as file:
            return file.read()
    def train_until(text):
        end = time.monotonic() + 60
        while text not in recorded() and time.monotonic() < end:
            train(1)
    def load():
        time.sleep(0.02)
    def train(steps):
        for step in range(steps):
            load()
            torch_xla.sync()
    """


class Run(unittest.TestCase):
    def setUp(self):
        self.kept = tempfile.TemporaryDirectory()
        self.addCleanup(self.kept.cleanup)
        self.folder = pathlib.Path(self.kept.name)

    def write(self, files):
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))

    def run_command(self, *words, **options):
        command = [XLAPROF, "run", "-o", "out", *words]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120, **options)

    def lines(self):
        """Returns the lines that the only Python process with a framework wrote, by kind."""
        [path] = (self.folder / "out").glob("process.*.jsonl")
        kinds = {}
        for line in path.read_text().splitlines():
            kind, *values = json.loads(line)
            kinds.setdefault(kind, []).append(values)
        return kinds

    def test_streams_and_status_are_the_commands(self):
        done = self.run_command("--", "sh", "-c", "cat; echo error >&2; exit 7", input="given")
        self.assertEqual((done.returncode, done.stdout), (7, "given"))
        self.assertTrue(done.stderr.startswith("error\n"), done.stderr)

    def test_a_command_that_records_nothing_says_so(self):
        done = self.run_command("--", "true")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertIn("nothing was recorded", done.stderr)

    def test_a_signal_gives_128_and_its_number(self):
        self.assertEqual(self.run_command("--", "sh", "-c", "kill -SEGV $$").returncode, 128 + signal.SIGSEGV)

    def test_failures_of_its_own(self):
        (self.folder / "plain.txt").write_text("no program")
        self.assertEqual(self.run_command("--", "no-such-program").returncode, 127)
        self.assertFalse((self.folder / "out").exists(), "a directory was left")
        self.assertEqual(self.run_command("--", "./plain.txt").returncode, 126)
        self.assertEqual(self.run_command().returncode, 125)
        self.assertEqual(self.run_command("--no-such-option", "--", "true").returncode, 125)
        (self.folder / "out").mkdir()
        (self.folder / "out" / "other.txt").write_text("")
        self.assertEqual(self.run_command("--", "true").returncode, 125)

    def test_signals_are_passed_on(self):
        self.write({"wait.py": """
            import signal, sys, time
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
            print("ready", flush=True)
            time.sleep(60)
            """})
        with subprocess.Popen([XLAPROF, "run", "-o", "out", "--", sys.executable, "wait.py"], cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), b"ready\n")
            process.terminate()
            process.communicate(timeout=60)
        self.assertEqual(process.returncode, 3)

    def test_a_limit_of_file_sizes_acts_as_without_xlaprof(self):
        show = ["grep", "SigIgn", "/proc/self/status"]
        plain = subprocess.run(show, capture_output=True, text=True, check=True)
        self.assertEqual(self.run_command("--", *show).stdout, plain.stdout)

    def test_records_steps_stacks_profile_and_end(self):
        self.write(TORCH_XLA | {"train.py": TRAIN + """
    train_until('["profile"')
    print(torch_xla.level, torch_xla.path)
    """})
        done = self.run_command("--", sys.executable, "train.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(), ["2", str(self.folder / "out/pytorch_xla_debug.txt")])
        lines = self.lines()
        self.assertEqual(lines["process"][0][5], [sys.executable, "train.py"])
        self.assertEqual(lines["state"][-1][2], "step_mark")
        self.assertIn("end", lines)
        self.assertEqual(lines["compiles"], [[1, 1500000000000000000, 200000000, 1500000001000000000, 300000000]])
        [profile] = lines["profile"]
        why, begin_ns, end_ns, first, end, error = profile
        self.assertEqual((why, error), ("steady", None))
        self.assertGreaterEqual(first, 4)
        self.assertGreaterEqual(end - first, 2)
        self.assertGreaterEqual(lines["state"][-1][1], end)
        self.assertGreater(end_ns, begin_ns)
        self.assertTrue(list((self.folder / "out").glob("profile.*.xplane.pb")))
        functions = {code[1] for code in lines["code"]}
        self.assertLessEqual({"load", "train"}, functions)
        self.assertFalse([path for path in (self.folder / "out").iterdir() if path.name.endswith((".part", ".pipe"))])

    def test_a_program_that_ends_while_a_framework_is_found_has_an_end(self):
        self.write(TORCH_XLA | {"train.py": """
            import atexit, threading, torch_xla, xlaprof_hook
            is_ending, found = threading.Event(), threading.Event()
            progress = xlaprof_hook.recording.observer.progress
            look, register = progress.look, atexit.register
            def late():
                return look() if is_ending.is_set() else []
            def registered(*words):
                register(*words)
                found.set()
            progress.look, atexit.register = late, registered
            @register
            def end():
                is_ending.set()
                assert found.wait(timeout=60)
            """})
        done = self.run_command("--", sys.executable, "train.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.lines()["end"]), 1)

    def test_variables_of_the_user_stay(self):
        self.write(TORCH_XLA | {"show.py": "import torch_xla; print(torch_xla.level)"})
        done = self.run_command("--", sys.executable, "show.py", env=os.environ | {"PT_XLA_DEBUG_LEVEL": "1"})
        self.assertEqual(done.stdout, "1\n")

    def test_asked_steps_are_profiled(self):
        self.write(TORCH_XLA | {"train.py": TRAIN + """
    train_until('["profile"')
    """})
        self.run_command("--steps", "40:59", "--", sys.executable, "train.py")
        [profile] = self.lines()["profile"]
        self.assertEqual(profile[0], "asked")
        self.assertGreaterEqual(profile[3], 40)
        self.assertGreaterEqual(profile[4], 60)

    def test_a_profile_of_pytorch_ends_with_the_program(self):
        self.write(TORCH | {"train.py": """
            import time, torch
            optimizer = torch.optim.SGD()
            while not torch.profiler.is_running:
                optimizer.step()
                time.sleep(0.01)
            """})
        done = self.run_command("--", sys.executable, "train.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        [profile] = self.lines()["profile"]
        self.assertIsNone(profile[5])
        self.assertTrue(list((self.folder / "out").glob("profile.*.json.gz")))

    def test_a_profile_of_pytorch_covers_no_time_before_or_after_it(self):
        self.write(TORCH | {"train.py": """
            import time, torch, xlaprof_hook
            optimizer = torch.optim.SGD()
            watched = xlaprof_hook.recording.observer.progress.watched
            def step_when_asked():
                while "torch" not in watched or watched["torch"].request is None:
                    time.sleep(0.01)
                time.sleep(0.1)
                before_ns = time.time_ns()
                optimizer.step()
                print(before_ns, time.time_ns())
            while "torch" not in watched:
                time.sleep(0.01)
            for step in range(4):
                optimizer.step()
            step_when_asked()
            for step in range(6):
                optimizer.step()
            step_when_asked()
            """})
        done = self.run_command("--", sys.executable, "train.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        first_step, last_step = [sorted(map(int, line.split())) for line in done.stdout.splitlines()]
        [profile] = self.lines()["profile"]
        for time_ns, (before_ns, after_ns) in zip(profile[1:3], (first_step, last_step)):
            self.assertTrue(before_ns <= time_ns <= after_ns, (before_ns, time_ns, after_ns))
        self.assertEqual(profile[3:], [5, 12, None])

    def test_a_profile_of_pytorch_that_no_step_begins_keeps_nobody_waiting(self):
        self.write(TORCH | {"train.py": """
            import time, torch, xlaprof_hook
            optimizer = torch.optim.SGD()
            watched = xlaprof_hook.recording.observer.progress.watched
            while "torch" not in watched:
                time.sleep(0.01)
            for step in range(20):
                optimizer.step()
            while watched["torch"].request is None:
                time.sleep(0.01)
            """})
        done = self.run_command("--", sys.executable, "train.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("ended before its next step", self.lines()["profile"][0][5])

    def test_a_program_with_its_own_profile_works(self):
        self.write(TORCH_XLA | {"train.py": """
            import torch_xla.debug.profiler as xp
            xp.start_trace("own")
            """ + textwrap.indent(TRAIN, "        ") + """
            train_until('["profile"')
            xp.stop_trace()
            """})
        done = self.run_command("--", sys.executable, "train.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(list((self.folder / "own").rglob("*.xplane.pb")))
        self.assertIn("already been started", self.lines()["profile"][0][5])

    def test_a_profile_gives_way_to_the_programs_own(self):
        self.write(TORCH_XLA | {"train.py": """
            import torch_xla.debug.profiler as xp
            """ + textwrap.indent(TRAIN, "        ") + """
            while xp._folder is None:
                train(1)
            xp.start_trace("own")
            train(3)
            xp.stop_trace()
            """})
        done = self.run_command("--steps", "4:1000000", "--", sys.executable, "train.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(list((self.folder / "own").rglob("*.xplane.pb")))
        [profile] = self.lines()["profile"]
        self.assertIsNone(profile[5])
        self.assertTrue(list((self.folder / "out").glob("profile.*.xplane.pb")))

    def test_a_profile_of_pytorch_gives_way_to_the_programs_own(self):
        self.write(TORCH | {"train.py": """
            import time, torch
            optimizer = torch.optim.SGD()
            while not torch.profiler.is_running:
                optimizer.step()
                time.sleep(0.01)
            with torch.autograd.profiler.profile():
                optimizer.step()
            """})
        done = self.run_command("--steps", "4:1000000", "--", sys.executable, "train.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        [profile] = self.lines()["profile"]
        self.assertIsNone(profile[5])
        self.assertTrue(list((self.folder / "out").glob("profile.*.json.gz")))

    def test_what_the_hook_raises_does_not_reach_the_program(self):
        broken = dict(TORCH_XLA)
        broken["torch_xla/__init__.py"] = "class _XLAC: pass\ndef sync(): pass\n"
        self.write(broken | {"train.py": TRAIN + """
    train_until('["problem"')
    print('done')
    """})
        done = self.run_command("--", sys.executable, "train.py")
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"))
        self.assertNotIn("Traceback", done.stderr)
        self.assertTrue(self.lines()["problem"])

    def test_a_killed_program_leaves_its_stacks(self):
        self.write(TORCH_XLA | {"hang.py": TRAIN + """
    import threading
    train(10)
    def kill():
        while ',"hang",' not in recorded():
            time.sleep(0.05)
        os.kill(os.getpid(), 9)
    threading.Thread(target=kill).start()
    def hang():
        time.sleep(60)
    hang()
    """})
        done = self.run_command("--", sys.executable, "hang.py")
        self.assertEqual(done.returncode, 128 + signal.SIGKILL)
        lines = self.lines()
        self.assertNotIn("end", lines)
        self.assertIn("hang", {code[1] for code in lines["code"]})
        self.assertIn("signal 9", done.stderr)
        report = json.loads(subprocess.run([XLAPROF, "report", "out", "--format", "json"], cwd=self.folder, check=True,
                                           capture_output=True).stdout)
        [process] = report["summary"]["observed_processes"]
        self.assertFalse(process["ended"])
        self.assertEqual(report["summary"]["observed_command"]["signal"], 9)
        self.assertTrue(process["last_place"].startswith("hang@"), process["last_place"])

    def test_children_and_ranks_are_recorded(self):
        self.write(TORCH_XLA | {"train.py": TRAIN + "\n    train(5)\n", "launch.py": """
            import os, subprocess, sys
            for rank in range(2):
                subprocess.run([sys.executable, "train.py"], env=os.environ | {"RANK": str(rank)}, check=True)
            """})
        self.run_command("--", sys.executable, "launch.py")
        ranks = [json.loads(path.read_text().splitlines()[0])[4] for path in (self.folder / "out").glob("process.*.jsonl")]
        self.assertEqual(sorted(ranks), [0, 1])

    def test_jax_logs_go_to_a_file(self):
        self.write(JAX | {"train.py": """
            import logging, jax, time
            jax.compile("step")
            logging.getLogger("jax._src.dispatch").warning("another message")
            time.sleep(0.2)
            """})
        done = self.run_command("--", sys.executable, "train.py")
        self.assertIn("another message", done.stderr)
        self.assertNotIn("Finished XLA compilation", done.stderr.split("\n\n")[0])
        [log] = (self.folder / "out").glob("jax_log.*.txt")
        self.assertIn("Finished XLA compilation of jit(step) in 0.25 sec", log.read_text())
        (self.folder / "out").rename(self.folder / "first")
        done = self.run_command("--", sys.executable, "train.py", env=os.environ | {"JAX_LOG_COMPILES": "1"})
        self.assertIn("Finished XLA compilation", done.stderr)

    def test_the_command_inherits_no_file_of_ours(self):
        done = self.run_command("--", sys.executable, "-c", """if True:
            import os
            for number in os.listdir("/proc/self/fd"):
                try:
                    print(os.readlink("/proc/self/fd/" + number))
                except OSError:
                    pass
            """)
        self.assertEqual(done.returncode, 0)
        self.assertNotIn(str(self.folder / "out"), done.stdout)

    CLOSES = """
        import os, sys, time, logging, jax
        own = os.path.join(os.environ["XLAPROF_RUN"], f"process.{os.getpid()}.jsonl")
        def await_record(bytes_before):
            end = time.monotonic() + 60
            while (os.path.getsize(own) if os.path.exists(own) else 0) <= bytes_before and time.monotonic() < end:
                time.sleep(0.02)
            return os.path.getsize(own)
        jax.compile("before")
        size = await_record(0)
        os.closerange(int(sys.argv[1]), 1024)
        files = [os.open(f"user_{i}", os.O_RDWR | os.O_CREAT) for i in range(20)]
        for file in files:
            os.write(file, b"first\\n")
        jax.compile("after")
        await_record(size)
        for file in files:
            os.write(file, b"last\\n")
            os.close(file)
        """

    def check_files_of_the_user(self):
        for i in range(20):
            self.assertEqual((self.folder / f"user_{i}").read_text(), "first\nlast\n", i)

    def test_a_program_that_closes_all_descriptors_keeps_its_files(self):
        """Regression: the hook wrote its samples and JAX's messages to files that the program opened later."""
        self.write(JAX | {"train.py": self.CLOSES})
        done = self.run_command("--", sys.executable, "train.py", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_files_of_the_user()
        self.assertEqual(len(self.lines()["end"]), 1)
        [log] = (self.folder / "out").glob("jax_log.*.txt")
        self.assertEqual(log.read_text().count("Finished XLA compilation"), 2)

    def test_a_daemon_and_a_child_with_close_fds_keep_their_files(self):
        self.write(JAX | {"train.py": self.CLOSES, "start.py": """
            import os, subprocess, sys, jax
            jax.compile("in the parent")
            subprocess.run([sys.executable, "train.py", "3"], close_fds=True, check=True)
            jax.compile("after the child")
            """, "daemon.py": """
            import os, jax
            jax.compile("in the parent")
            done, ended = os.pipe()
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    for number in range(3, 1024):
                        if number != ended:
                            try:
                                os.close(number)
                            except OSError:
                                pass
                    files = [os.open(f"user_{i}", os.O_RDWR | os.O_CREAT) for i in range(20)]
                    for file in files:
                        os.write(file, b"first\\n")
                    jax.compile("in the daemon")
                    for file in files:
                        os.write(file, b"last\\n")
                        os.close(file)
                os._exit(0)
            os.close(ended)
            os.read(done, 1)
            """})
        for program in "start.py", "daemon.py":
            done = self.run_command("--", sys.executable, program)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.check_files_of_the_user()
            for file in self.folder.glob("user_*"):
                file.unlink()
            (self.folder / "out").rename(self.folder / program.replace(".py", ""))

    def test_no_file_of_ours_becomes_standard_error(self):
        self.write(JAX | {"train.py": """
            import os, sys, threading, jax
            is_done = threading.Event()
            def write():
                while not is_done.is_set():
                    try:
                        os.write(2, b"to standard error\\n")
                    except OSError:
                        pass
            writer = threading.Thread(target=write)
            writer.start()
            for i in range(300):
                jax.compile("step")
            is_done.set()
            writer.join()
            """})
        command = f"exec {XLAPROF} run -o out -- {sys.executable} train.py 2>&-"
        subprocess.run(["sh", "-c", command], cwd=self.folder, stdout=subprocess.DEVNULL, timeout=120)
        for file in (self.folder / "out").iterdir():
            self.assertNotIn("to standard error", file.read_text(), file)
        [log] = (self.folder / "out").glob("jax_log.*.txt")
        self.assertEqual(log.read_text().count("\n"), 300)

    def test_a_file_at_the_path_of_ours_is_the_programs(self):
        self.write(JAX | {"train.py": """
            import glob, os, jax
            jax.compile("one")
            [log] = glob.glob(os.environ["XLAPROF_RUN"] + "/jax_log.*")
            with open("mine", "w") as file:
                file.write("mine")
            os.replace("mine", log)
            jax.compile("two")
            """})
        self.assertEqual(self.run_command("--", sys.executable, "train.py").returncode, 0)
        [log] = (self.folder / "out").glob("jax_log.*.txt")
        self.assertEqual(log.read_text(), "mine")

    def test_the_trace_of_pytorch_keeps_no_descriptor(self):
        self.write(TORCH | {"torch/__init__.py": """
            from torch import autograd, compiler, optim, profiler
            from torch._logging import _internal
            """, "torch/_logging/__init__.py": "", "torch/_logging/_internal.py": """
            import logging, os, tempfile
            class LazyTraceHandler(logging.StreamHandler):
                def __init__(self):
                    logging.Handler.__init__(self)
                    self.stream = None
                def emit(self, record):
                    if self.stream is None:
                        self.stream = tempfile.NamedTemporaryFile("w+", suffix=".log", prefix="dedicated_log_torch_trace_",
                                                                  dir=os.environ["TORCH_TRACE"], delete=False)
                    super().emit(record)
            LOG_TRACE_HANDLER = LazyTraceHandler()
            trace_log = logging.getLogger("torch.__trace")
            trace_log.setLevel(logging.DEBUG)
            trace_log.propagate = False
            trace_log.addHandler(LOG_TRACE_HANDLER)
            """, "train.py": """
            import os, time, torch
            from torch._logging._internal import LOG_TRACE_HANDLER, trace_log
            end = time.monotonic() + 60
            while "emit" not in vars(LOG_TRACE_HANDLER) and time.monotonic() < end:
                time.sleep(0.01)
            trace_log.debug("before")
            os.closerange(3, 1024)
            files = [os.open(f"user_{i}", os.O_RDWR | os.O_CREAT) for i in range(20)]
            for file in files:
                os.write(file, b"first\\n")
            trace_log.debug("after")
            for file in files:
                os.write(file, b"last\\n")
                os.close(file)
            """})
        done = self.run_command("--", sys.executable, "train.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_files_of_the_user()
        [trace] = (self.folder / "out/torch_trace").iterdir()
        self.assertEqual(trace.read_text(), "before\nafter\n")

    def test_the_users_own_sitecustomize_runs(self):
        self.write({"mine/sitecustomize.py": "import sys; sys.mine = 5", "show.py": "import sys; print(sys.mine)"})
        done = self.run_command("--", sys.executable, "show.py", env=os.environ | {"PYTHONPATH": str(self.folder / "mine")})
        self.assertEqual(done.stdout, "5\n")

    def test_a_forked_child_writes_nothing(self):
        self.write(TORCH_XLA | {"train.py": TRAIN + """
    import os
    train(10)
    child = os.fork()
    train(10)
    if child:
        os.waitpid(child, 0)
    """})
        self.assertEqual(self.run_command("--", sys.executable, "train.py").returncode, 0)
        lines = self.lines()  # there is one file
        self.assertEqual(lines["state"][-1][1], 20)
        self.assertEqual(len(lines["end"]), 1)

    def test_an_archive_has_no_secrets_and_is_read_back(self):
        self.write(TORCH_XLA | {"train.py": TRAIN + "\n    train(30)\n"})
        done = self.run_command("--archive", "out.tar.gz", "--tidy", "--", sys.executable, "train.py", "secret-of-the-user",
                                env=os.environ | {"SERVICE_TOKEN": "secret-of-the-user"})
        self.assertEqual(done.returncode, 0)
        self.assertFalse((self.folder / "out").exists())
        with tarfile.open(self.folder / "out.tar.gz") as archive:
            texts = {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}
        self.assertIn(b"30 steps", texts["out/report.txt"])
        self.assertFalse([name for name, text in texts.items() if b"secret-of-the-user" in text])
        report = json.loads(subprocess.run([XLAPROF, "report", "out.tar.gz", "--format", "json"], cwd=self.folder, check=True,
                                           capture_output=True).stdout)
        self.assertEqual(report["summary"]["observed_processes"][0]["steps"], 30)
        self.assertIn("the files beside it", [source["derived_from"] for source in report["sources"]])

    def test_an_archive_replaces_nothing_that_was_not_named_for_it(self):
        thesis = self.folder / "thesis.txt"
        thesis.write_text("my thesis")
        thesis.chmod(0o640)
        (self.folder / "link").symlink_to("thesis.txt")
        os.mkfifo(self.folder / "pipe")
        for name, options in [("thesis.txt", []), ("link", ["--force"]), ("pipe", ["--force"]), ("/dev/full", ["--force"]),
                              (".", ["--force"]), ("nowhere/x.tgz", [])]:
            done = self.run_command("--archive", name, *options, "--", "touch", "began")
            self.assertEqual(done.returncode, 125, name)
            self.assertFalse((self.folder / "began").exists(), f"{name}: the command ran")
            self.assertFalse((self.folder / "out").exists(), f"{name}: a directory was left")
        self.assertEqual(thesis.read_text(), "my thesis")
        done = self.run_command("--archive", "thesis.txt", "--force", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(tarfile.is_tarfile(thesis))
        self.assertEqual(thesis.stat().st_mode & 0o777, 0o640)

    def test_an_archive_in_what_tidy_removes_is_refused(self):
        (self.folder / "out").mkdir()
        (self.folder / "other").symlink_to("out")
        for name in ["out/x.tgz", "other/x.tgz", "./other/../out/x.tgz"]:
            done = self.run_command("--archive", name, "--tidy", "--", "touch", "began")
            self.assertEqual(done.returncode, 125, name)
            self.assertFalse((self.folder / "began").exists(), f"{name}: the command ran")
        self.assertEqual(self.run_command("--archive", "out/x.tgz", "--", "true").returncode, 0)
        with tarfile.open(self.folder / "out/x.tgz") as archive:
            self.assertEqual(archive.getnames(), ["out/run.jsonl"])

    def test_tidy_removes_only_what_is_in_the_archive(self):
        self.write({"t.sh": """
            echo new > out/t.log
            echo old | gzip > out/t.log.gz
            mkdir -p out/deep/empty out/kept
            echo file > out/deep/file
            ln -s ../t.sh out/kept/link
            mkfifo out/pipe
            """})
        done = self.run_command("--archive", "x.tgz", "--tidy", "--", "sh", "t.sh")
        self.assertEqual(done.returncode, 0, done.stderr)
        left = sorted(str(path.relative_to(self.folder / "out")) for path in (self.folder / "out").rglob("*"))
        self.assertEqual(left, ["kept", "kept/link", "pipe"])
        self.assertIn("kept/link, pipe", done.stderr)
        with tarfile.open(self.folder / "x.tgz") as archive:
            self.assertEqual(sorted(archive.getnames()), ["out/deep", "out/deep/empty", "out/deep/file", "out/kept",
                                                          "out/report.txt", "out/run.jsonl", "out/t.log", "out/t.log.gz"])
            self.assertEqual(archive.extractfile("out/t.log").read(), b"new\n")
            self.assertEqual(gzip.decompress(archive.extractfile("out/t.log.gz").read()), b"old\n")

    def test_a_file_that_changes_after_it_was_packed_stays(self):
        # A survivor of the command writes on, while the archive of the large file is made.
        self.write({"t.sh": """
            head -c 60000000 /dev/urandom > out/zz_large
            echo begun > out/a.log
            (i=0; while [ $i -lt 600 ] && [ -e out/zz_large ]; do echo $i >> out/a.log; sleep 0.01; i=$((i + 1)); done) > /dev/null 2>&1 &
            """})
        done = self.run_command("--archive", "x.tgz", "--tidy", "--", "sh", "t.sh")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.folder / "out/a.log").read_text().startswith("begun"))
        self.assertFalse((self.folder / "out/zz_large").exists())

    def test_the_last_lines_name_what_is_left(self):
        self.write(TORCH_XLA | {"train.py": TRAIN + "\n    train(5)\n"})
        for options, name in [([], "out"), (["--archive", "x.tgz", "--tidy"], "x.tgz")]:
            done = self.run_command(*options, "--", sys.executable, "train.py")
            self.assertEqual(done.stderr.splitlines()[-2:], [f"  xlaprof report {name}", f"  xlaprof view {name}"])
            self.assertEqual(subprocess.run([XLAPROF, "report", name], cwd=self.folder, capture_output=True).returncode, 0)
            shutil.rmtree(self.folder / "out", ignore_errors=True)

    def test_an_archive_has_no_secrets_of_the_command_line(self):
        secrets = ["cliPassw0rd1", "cliKey4", "cliTok5", "cliTok6", "0123456789abcdef0123456789abcdef01234567"]
        flags = ["--password", secrets[0], "--api-key", secrets[1], "--token", secrets[2], f"--hf_token={secrets[3]}", "--wandb-key", secrets[4]]
        self.write(TORCH_XLA | {"train.py": TRAIN + "\n    train(5)\n"})
        done = self.run_command("--archive", "x.tgz", "--", sys.executable, "train.py", *flags, "--tokenizer", "bert", "--max-tokens", "99")
        self.assertEqual(done.returncode, 0, done.stderr)
        with tarfile.open(self.folder / "x.tgz") as archive:
            texts = {member.name: archive.extractfile(member).read().decode(errors="replace") for member in archive if member.isfile()}
        for name, text in texts.items():
            self.assertFalse([secret for secret in secrets if secret in text], name)
        words = json.loads(texts["out/run.jsonl"].splitlines()[0])[2]
        self.assertEqual(words[-4:], ["--tokenizer", "bert", "--max-tokens", "99"])
        self.assertEqual(words[2:4], ["--password", "*" * len(secrets[0])])

    def test_files_that_were_not_searched_are_named(self):
        done = self.run_command("--archive", "x.tgz", "--", "sh", "-c", "printf '\\375' > out/a.xz; printf '7zXZ\\0rest' >> out/a.xz")
        self.assertIn("not searched for secrets: a.xz (xz)", done.stderr)

    def test_messages_of_torchtpu_go_to_a_file(self):
        self.write({"torch_tpu/__init__.py": """
            import os
            if os.environ.get("TF_CPP_VMODULE"):
                os.write(2, b"I0000 00:00:1795563983.259546   23619 compilation_cache.cc:627] Compilation cache\\n")
            os.write(2, b"I0000 00:00:1795563983.259546   23619 other.cc:1] another message\\n")
            """, "train.py": "import torch_tpu, sys; sys.stderr.write('In the end'); sys.exit(4)"})
        done = self.run_command("--", sys.executable, "train.py")
        self.assertEqual(done.returncode, 4)
        self.assertIn("another message\nIn the end", done.stderr)
        self.assertNotIn("Compilation cache", done.stderr.split("In the end")[0])
        self.assertIn("Compilation cache", (self.folder / "out/stderr.txt").read_text())


    TORCHTPU = {"torch_tpu/__init__.py": "", "train.py": """
        import os, sys, time
        import torch_tpu
        os.write(2, b"begun\\n")
        if sys.argv[1] == "survivor" and os.fork():
            sys.exit(3)
        print(os.getpid(), flush=True)
        while not os.path.exists("go"):
            time.sleep(0.01)
        try:
            for i in range(3):
                os.write(2, b"late\\n")
            result = "finished"
        except BaseException as error:
            result = repr(error)
        open("unfinished", "w").write(result)
        os.rename("unfinished", "result")
        """}

    def wait_for(self, found, what):
        deadline = time.monotonic() + 60
        while not found():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.01)

    def check_that_stderr_outlives(self, mode, end):
        self.write(self.TORCHTPU)
        with open(self.folder / "stderr", "wb") as stderr, subprocess.Popen(
                [XLAPROF, "run", "-o", "out", "--", sys.executable, "train.py", mode], cwd=self.folder, stdout=subprocess.PIPE,
                stderr=stderr) as process:
            pid = int(process.stdout.readline())
            end(process)
            (self.folder / "go").touch()
            self.wait_for((self.folder / "result").exists, "the program lost its standard error")
            self.assertEqual((self.folder / "result").read_text(), "finished")
            self.wait_for(lambda: (self.folder / "stderr").read_text().count("late") == 3, "not everything was passed on")
            self.assertEqual((self.folder / "out/stderr.txt").read_text(), "begun\n" + 3 * "late\n")
            self.wait_for(lambda: not self.processes(), f"processes are left after {pid}")
        self.assertFalse((self.folder / "out/stderr.pipe").exists())

    def processes(self):
        """Returns the processes that have a file of this test open, as the reader of standard error has."""
        found = []
        for link in pathlib.Path("/proc").glob("[0-9]*/fd/2"):
            try:
                if os.readlink(link) == str(self.folder.resolve() / "stderr"):
                    found.append(int(link.parts[2]))
            except OSError:
                pass
        return found

    def test_a_process_that_outlives_the_run_keeps_its_stderr(self):
        self.check_that_stderr_outlives("survivor", lambda process: self.assertEqual(process.wait(60), 3))

    def test_a_program_whose_run_is_killed_keeps_its_stderr(self):
        self.check_that_stderr_outlives("alone", lambda process: (process.kill(), process.wait(60)))

    def test_the_report_says_how_much_of_stderr_is_not_kept(self):
        self.write({"out/run.jsonl": """
            ["run",1,["python","train.py"],1795563983000000000]
            ["stderr",268435456,14680064]
            ["end",1795563984000000000,0,null,1000]
            """.replace("\n", "", 1)})
        done = subprocess.run([XLAPROF, "report", "out", "--format", "json"], cwd=self.folder, check=True, capture_output=True, text=True)
        self.assertIn("stderr.txt lacks the last 14680064 bytes", done.stdout)


class Observed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "profiler/launch/hook"))

    def test_a_backward_compiles_without_dynamo_on_any_thread(self):
        from xlaprof_hook.progress import is_compiling

        def is_compiling_within(*stack):
            """Returns what is_compiling() returns while another thread runs functions of these files and names."""
            inside, done = threading.Event(), threading.Event()
            call = lambda: (inside.set(), done.wait(timeout=60))
            for file, name in reversed(stack):
                names = {}
                exec(compile(f"def {name}(call): call()", file, "exec"), names)
                call = functools.partial(names[name], call)
            thread = threading.Thread(target=call)
            thread.start()
            inside.wait(timeout=60)
            result = is_compiling()
            done.set()
            thread.join()
            return result

        backward = ("/x/torch/_functorch/_aot_autograd/runtime_wrappers.py", "backward")
        inductor, common = "/x/torch/_inductor/compile_fx.py", "/x/torch/_dynamo/backends/common.py"
        self.assertFalse(is_compiling_within(backward))
        self.assertFalse(is_compiling_within(backward, (inductor, "run")))
        self.assertTrue(is_compiling_within(backward, (inductor, "compile_fx_backward")))
        self.assertTrue(is_compiling_within(backward, (common, "_wrapped_bw_compiler")))
        self.assertFalse(is_compiling_within((common, "wrapper")))

    def test_what_compiled_is_written_at_once(self):
        from xlaprof_hook import observer
        lines = []
        record = types.SimpleNamespace(add=lambda *line: lines.append(line), flush=lambda: None)
        thread = observer.Observer(types.SimpleNamespace(record=record, options={}, frameworks={}))
        atexit.unregister(thread.finish)
        framework = types.SimpleNamespace(steps=lambda: 40, step_unit="step_mark", compilations=lambda: compilations)
        thread.progress.active = lambda: framework
        thread._profile = lambda framework: None
        thread.metrics_due.is_due = thread.state_due.is_due = lambda: False
        thread.compiled_due.is_due = lambda: True
        written = []
        for compilations in (0, 0, 3, 3, 4):
            thread._watch()
            written.append([line[4] for line in lines if line[0] == "state"])
        self.assertEqual(written, [[], [], [3], [3], [3, 4]])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + ["-q"] + sys.argv[1:])
