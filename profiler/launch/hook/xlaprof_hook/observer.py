"""The thread that records while the program runs."""
import atexit
import itertools
import math
import os
import sys
import threading
import time

from xlaprof_hook.own_file import OwnFile
from xlaprof_hook.progress import Progress, is_compiling
from xlaprof_hook.stacks import Stacks
from xlaprof_hook.window import Window

_PERIOD_S = 0.05  # between two samples at first
_SAMPLES_AT_FULL_RATE = 2400  # then the time between two samples grows with the run, so that its file stays small
_PROFILE_PERIOD_S = 0.005  # while a profile is taken, which slows the program anyway
_FLUSH_S, _STATE_S, _METRICS_S = 1.0, 10.0, 60.0
_COMPILED_S = 0.5  # after a compilation, the state is written within this time, so that its step is known


class _Every:
    """Tells when `seconds` have passed since it last told so."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.last = time.monotonic()

    def is_due(self):
        now = time.monotonic()
        if now - self.last < self.seconds:
            return False
        self.last = now
        return True


class Observer(threading.Thread):
    def __init__(self, recording):
        super().__init__(name="xlaprof", daemon=True)
        self.recording = recording
        self.record = recording.record
        self.progress = Progress(recording)
        self.window = Window(recording.options)
        self.stacks = Stacks(self.record)
        self.pid = os.getpid()
        self.is_ending = threading.Event()
        self.lock = threading.Lock()
        self.profiled = None  # the framework whose profile runs, or ran
        self.is_profiling = False
        self.must_give_way = False  # the program is about to take a profile itself
        self.cpu_ns = 0  # that this thread took
        self.flush_due, self.state_due, self.metrics_due = _Every(_FLUSH_S), _Every(_STATE_S), _Every(_METRICS_S)
        self.compiled_due = _Every(_COMPILED_S)
        self.compilations = 0  # in the newest state that was written
        self.timed_compilations = 0  # whose times were written
        atexit.register(self.finish)

    def run(self):
        period_s = _PERIOD_S
        while not self.is_ending.wait(period_s):
            try:
                with self.lock:
                    self.stacks.take(int(period_s * 1e9))
                    self._watch()
                    self.cpu_ns = time.thread_time_ns()
            except Exception as error:
                self.record.problem(error)
                return
            if self.is_profiling:
                period_s = _PROFILE_PERIOD_S
            else:
                period_s = _PERIOD_S * max(1.0, self.stacks.count / _SAMPLES_AT_FULL_RATE)

    def _watch(self):
        if self.progress.look():
            # Functions that were registered last run first, and this one must run before the framework ends itself. The first
            # registration stays: the main thread may run these functions already, and then it leaves out those that are added.
            atexit.register(self.finish)
        framework = self.profiled or self.progress.active()
        if framework is not None:
            self._profile(framework)
            if self.metrics_due.is_due():
                self._write_metrics()
                self._add_compile_times()
        if self.state_due.is_due():
            self._add_state()
            self._keep_small()
        elif framework is not None and self.compiled_due.is_due() and framework.compilations() != self.compilations:
            self._add_state()
        if self.flush_due.is_due():
            self.record.flush()

    def _profile(self, framework):
        steps = framework.steps()
        if self.profiled is None:
            if self.window.is_due(steps, framework.compilations(), is_compiling):
                self.profiled = framework
                self._start_profile(framework)
        elif self.is_profiling and (self.must_give_way or self.window.is_over(steps)):
            self._stop_profile()

    def _start_profile(self, framework):
        now = time.time_ns(), framework.steps()
        self._add_state()  # with the one after the start, it tells what was compiled before and in the profile
        try:
            framework.profile.start(self.recording.folder, self.give_way)
        except Exception as error:
            self._add_profile(now, (time.time_ns(), framework.steps()), str(error))
            return
        self.is_profiling = True
        self.window.start(framework.profile.began[1])
        self._add_state()

    def _stop_profile(self):
        self.is_profiling = False
        profile, error = self.profiled.profile, None
        try:
            profile.stop()
        except Exception as failed:
            error = str(failed)
        self._add_profile(profile.began, profile.ended or (time.time_ns(), self.profiled.steps()), error)
        self._add_state()

    def _add_profile(self, began, ended, error):
        self.record.add("profile", self.window.why, began[0], ended[0], began[1], ended[1], error)

    def give_way(self):
        """Waits until the profile has ended. A thread of the program calls this before it begins a profile itself."""
        self.must_give_way = True
        end_s = time.monotonic() + 60
        while self.profiled.profile.is_running and self.is_alive() and time.monotonic() < end_s:
            if hasattr(self.profiled, "do_request"):
                self.profiled.do_request()  # it may be this thread that must stop the profile
            time.sleep(0.001)

    def _write_metrics(self):
        """Replaces the metrics report of this process."""
        for framework in self.progress.watched.values():
            text = framework.metrics() if hasattr(framework, "metrics") else ""
            if text:
                path = os.path.join(self.recording.folder, f"metrics.{self.pid}.txt")
                if os.path.exists(path + ".part"):
                    os.remove(path + ".part")
                OwnFile(path + ".part").write(text)
                os.replace(path + ".part", path)

    def _add_compile_times(self):
        """Adds the times of the compilations since the last call, as far as the framework still knows them."""
        for framework in self.progress.watched.values():
            if not hasattr(framework, "compile_times"):
                continue
            count, newest = framework.compile_times()
            if count < self.timed_compilations:
                self.timed_compilations = math.inf  # the program cleared its metrics
            new = min(count - self.timed_compilations, len(newest))
            if new > 0:
                self.record.add("compiles", count - new, *itertools.chain.from_iterable(newest[-new:]))
                self.timed_compilations = count

    def _keep_small(self):
        for framework in self.progress.watched.values():
            ended = framework.keep_small() if hasattr(framework, "keep_small") else None
            if ended:
                self.record.problem(ended)

    def _add_state(self):
        framework = self.profiled or self.progress.active()
        steps = framework.steps() if framework is not None else None
        self.compilations = framework.compilations() if framework is not None else 0
        self.record.add("state", time.time_ns(), steps, framework.step_unit if steps is not None else None,
                        self.compilations, time.process_time_ns(), self.cpu_ns)

    def finish(self):
        """Ends the recording at the end of the program. A forked child leaves it to its parent."""
        if os.getpid() != self.pid or self.is_ending.is_set():
            return
        self.is_ending.set()
        self.progress.end()
        if not self.lock.acquire(timeout=30):
            return
        try:
            for name, variables in self.recording.frameworks.items():
                self.record.add("framework", name, getattr(sys.modules.get(name), "__version__", None), variables)
            if self.is_profiling:
                self._stop_profile()
            self.progress.look()  # the program may have been too short for the thread to look
            self._add_state()
            self._write_metrics()
            self._add_compile_times()
            self.record.add("end", time.time_ns())
            self.record.flush()
        except Exception as error:
            self.record.problem(error)
        finally:
            self.lock.release()
