"""Takes a profile with each framework's own profiler, which can take only one at a time.

`start(folder, give_way)` and `stop()` run on the thread of the observer. `stop` leaves files whose names begin with `profile.PID`
in the folder. If the program begins a profile of its own meanwhile, its thread first calls `give_way`, which waits until this one
is no longer `is_running`."""
import functools
import os
import shutil
import sys
import threading
import time


class _Starts:
    """The functions by which a program begins a profile. They call `give_way` first until `restore` is called."""

    def __init__(self, names, give_way):
        self.replaced = []
        for module, name in names:
            owner = sys.modules.get(module)
            *outer, name = name.split(".")
            for part in outer:
                owner = getattr(owner, part, None)
            original = getattr(owner, name, None)
            if original is not None:
                setattr(owner, name, self._giving_way(original, give_way))
                self.replaced.append((owner, name, original))

    @staticmethod
    def _giving_way(original, give_way):
        @functools.wraps(original)
        def start(*args, **kwargs):
            give_way()
            return original(*args, **kwargs)

        return start

    def restore(self):
        while self.replaced:
            setattr(*self.replaced.pop())


def _collect(folder, written):
    """Moves the profiles that XLA's profiler wrote below `written` into the folder, and removes what it wrote beside them."""
    number = 0
    for parent, _, names in os.walk(written):
        for name in names:
            if name.endswith(".xplane.pb"):
                part = f".{number}" if number else ""
                os.replace(os.path.join(parent, name), os.path.join(folder, f"profile.{os.getpid()}{part}.xplane.pb"))
                number += 1
    shutil.rmtree(written, ignore_errors=True)


class _Profile:
    """`began` and `ended` tell what the profile covers, without the time in which it waited for a step: nanoseconds since 1970, and
    the steps that the program had ended."""

    def __init__(self, framework):
        self.framework = framework
        self.is_running = False
        self.began = self.ended = None

    def _now(self):
        return time.time_ns(), self.framework.steps()

    def _begin(self, give_way):
        self._start()
        self.began = self._now()
        self.is_running = True
        self.starts = _Starts(self.START_NAMES, give_way)

    def _end(self):
        self.ended = self._now()
        self.starts.restore()
        try:
            self._stop()
        finally:
            self.is_running = False


class _XSpaceProfile(_Profile):
    def start(self, folder, give_way):
        self.folder = folder
        self.written = os.path.join(folder, f"profile.{os.getpid()}.part")
        self._begin(give_way)

    def stop(self):
        self._end()
        _collect(self.folder, self.written)


class XlaProfile(_XSpaceProfile):
    START_NAMES = [("torch_xla.debug.profiler", "start_trace")]

    def _start(self):
        import torch_xla.debug.profiler as profiler
        profiler.start_trace(self.written)

    def _stop(self):
        import torch_xla.debug.profiler as profiler
        profiler.stop_trace()


class JaxProfile(_XSpaceProfile):
    """JAX's profiler traces Python's calls unless it is told otherwise, which shows the lines of reads."""

    # jax.profiler.trace() calls the function of the inner module.
    START_NAMES = [("jax.profiler", "start_trace"), ("jax._src.profiler", "start_trace")]

    def _start(self):
        import jax
        jax.profiler.start_trace(self.written)

    def _stop(self):
        import jax
        jax.profiler.stop_trace()


class KinetoProfile(_Profile):
    """PyTorch's profiler. It records the thread that starts it, so the program's thread starts and stops it after a step of the
    optimizer. If no optimizer steps, the observer's thread starts it for all threads. At the end of the program, when no step
    follows, the main thread stops it."""

    START_NAMES = [("torch.autograd.profiler", "profile._prepare_trace"), ("torch.autograd.profiler", "profile._start_trace")]

    def __init__(self, framework, options):
        super().__init__(framework)
        self.options = options
        self.profiler = None

    def start(self, folder, give_way):
        self.folder = folder
        self.observer = threading.current_thread()
        self._do(lambda: self._begin(give_way))

    def stop(self):
        self._do(self._end)
        self.profiler.export_chrome_trace(os.path.join(self.folder, f"profile.{os.getpid()}.json.gz"))
        self.profiler = None

    def _start(self):
        import torch
        if torch.autograd._profiler_enabled():
            raise RuntimeError("the program takes a profile itself")
        config = None
        if not self.framework.steps():
            config = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
        self.profiler = torch.profiler.profile(with_stack=bool(self.options.get("full")), experimental_config=config)
        self.profiler.start()

    def _stop(self):
        self.profiler.stop()

    def _do(self, action):
        if self.framework.steps() and threading.current_thread() is self.observer:
            self.framework.do_at_next_step(action)
        else:
            action()
