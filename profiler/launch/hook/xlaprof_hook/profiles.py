"""Takes a profile with each framework's own profiler.

`start(folder)` and `stop()` run on the thread of the observer. `stop` leaves files whose names begin with `profile.PID` in the folder."""
import os
import shutil
import threading


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


class _XSpaceProfile:
    def start(self, folder):
        self.folder = folder
        self.written = os.path.join(folder, f"profile.{os.getpid()}.part")
        self._start()

    def stop(self):
        self._stop()
        _collect(self.folder, self.written)


class XlaProfile(_XSpaceProfile):
    def _start(self):
        import torch_xla.debug.profiler as profiler
        profiler.start_trace(self.written)

    def _stop(self):
        import torch_xla.debug.profiler as profiler
        profiler.stop_trace()


class JaxProfile(_XSpaceProfile):
    """JAX's profiler traces Python's calls unless it is told otherwise, which shows the lines of reads."""

    def _start(self):
        import jax
        jax.profiler.start_trace(self.written)

    def _stop(self):
        import jax
        jax.profiler.stop_trace()


class KinetoProfile:
    """PyTorch's profiler. It records the thread that starts it, so the program's thread starts and stops it after a step of the
    optimizer. If no optimizer steps, the observer's thread starts it for all threads. At the end of the program, when no step
    follows, the main thread stops it."""

    def __init__(self, framework, options):
        self.framework = framework
        self.options = options
        self.profiler = None

    def start(self, folder):
        self.folder = folder
        self._do(self._start)

    def stop(self):
        self._do(lambda: self.profiler.stop())
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

    def _do(self, action):
        if self.framework.steps() and threading.current_thread() is not threading.main_thread():
            self.framework.do_at_next_step(action)
        else:
            action()
