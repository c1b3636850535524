"""Tells how far the program is: its steps, its compilations, and which profiler fits it.

Each class watches one framework. `steps()` returns how many steps the program has ended, or None if it has ended none, and
`step_unit` says what counts as a step. `compilations()` returns how many programs were compiled."""
import os
import sys
import threading

from xlaprof_hook import code as code_of_files
from xlaprof_hook import own_file, profiles


def _loaded(name):
    """Returns a module whose import has ended, or None."""
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    return None if module is None or getattr(spec, "_initializing", False) else module


_MOST_DEBUG_BYTES = 256 << 20
# AOTAutograd compiles a backward when it first runs, without Dynamo.
_BACKWARD_COMPILER = ("/torch/_dynamo/backends/common.py", "_wrapped_bw_compiler")
# Functions of compile_fx.py that run a compiled program.
_RUNNERS = ("run", "wrapper")


def _compiles(code):
    """Returns whether a function may be on the stack because something is traced or compiled."""
    if "compiles" in code_of_files.of(code.co_filename)[1]:
        return not (code.co_filename.endswith("/compile_fx.py") and code.co_name in _RUNNERS)
    file, function = _BACKWARD_COMPILER
    return code.co_name == function and code.co_filename.endswith(file)


def is_compiling():
    """Returns whether a thread other than the calling one may be tracing or compiling."""
    own = threading.get_ident()
    for ident, frame in sys._current_frames().items():
        while frame is not None and ident != own:
            if _compiles(frame.f_code):
                return True
            frame = frame.f_back
    return False


class PyTorchXla:
    module = "torch_xla"
    step_unit = "step_mark"

    def __init__(self, recording):
        self.folder = recording.folder
        self.library = sys.modules[self.module]._XLAC
        self.profile = profiles.XlaProfile(self)

    def steps(self):
        return self.library._xla_counter_value("MarkStep") or None

    def compilations(self):
        return self.library._xla_counter_value("UncachedCompile") or 0

    def compile_times(self):
        """Returns how many compilations were timed, and of the newest of them when each ended, in ns since 1970, and its length in ns."""
        metric_data = getattr(self.library, "_xla_metric_data", None)
        count, _, newest = (metric_data and metric_data("CompileTime")) or (0, 0, ())
        return count, [(int(end_s * 1e9), int(length_ns)) for end_s, length_ns in newest]

    def metrics(self):
        """Returns the text of the metrics report."""
        return self.library._xla_metrics_report()

    def keep_small(self):
        """Ends the debug output when it is large: each execution adds a kilobyte. Each message opens the file by its name, so
        what follows goes nowhere. Returns what happened, or None."""
        path = os.environ.get("PT_XLA_DEBUG_FILE", "")
        if not path.startswith(self.folder + os.sep) or os.path.islink(path) or not os.path.exists(path) or os.path.getsize(path) < _MOST_DEBUG_BYTES:
            return None
        os.rename(path, path + ".begin.txt")
        os.symlink(os.devnull, path)
        return f"the debug output of PyTorch/XLA after its first {_MOST_DEBUG_BYTES >> 20} MiB"


class _Request:
    """What a thread of the program must do for the observer."""

    def __init__(self, action):
        self.action = action
        self.error = None
        self.done = threading.Event()

    def do(self):
        try:
            self.action()
        except Exception as error:
            self.error = error
        self.done.set()

    def refuse(self, why):
        self.error = RuntimeError(why)
        self.done.set()


class PyTorch:
    """A program that uses PyTorch without XLA. Its steps are those of the optimizer that steps first."""
    module = "torch"
    step_unit = "optimizer_step"

    def __init__(self, recording):
        import torch
        from torch.optim.optimizer import register_optimizer_step_post_hook
        self.count = 0
        self.optimizer = None
        self.request = None
        self.has_ended = False
        is_compiling = torch.compiler.is_compiling

        def after_step(optimizer, args, kwargs):
            # Dynamo follows this function, too, if the program compiles its optimizer.
            if is_compiling():
                return
            self.optimizer = self.optimizer or id(optimizer)
            if self.optimizer == id(optimizer):
                self.count += 1
                self.do_request()

        register_optimizer_step_post_hook(after_step)
        if "TORCH_TRACE" in recording.frameworks.get("torch", ()):
            # PyTorch would keep the file of its trace open, which it writes only because we ask for it.
            handler = getattr(_loaded("torch._logging._internal"), "LOG_TRACE_HANDLER", None)
            if handler is not None:
                own_file.let_go(handler)
        self.profile = profiles.KinetoProfile(self, recording.options)

    def do_at_next_step(self, action):
        """Lets the program's thread do `action` after its next step, and waits for that. Raises what it raises."""
        request = self.request = _Request(action)
        if self.has_ended:
            self.end()
        if not request.done.wait(timeout=60):
            self.request = None
            raise RuntimeError("no step ended within a minute")
        if request.error:
            raise request.error

    def do_request(self):
        """Does what the observer waits for, on the calling thread."""
        request, self.request = self.request, None
        if request is not None:
            request.do()

    def end(self):
        """Tells that the program makes no more steps."""
        self.has_ended = True
        request, self.request = self.request, None
        if request is not None:
            request.refuse("the program ended before its next step")

    def steps(self):
        return self.count or None

    def compilations(self):
        dynamo = _loaded("torch._dynamo.utils")
        return dynamo.counters["frames"]["total"] if dynamo else 0


class TorchTpu(PyTorch):
    module = "torch_tpu"


class Jax:
    """A JAX program. Its steps are those that it annotates."""
    module = "jax"
    step_unit = "step_annotation"

    def __init__(self, recording):
        import jax
        self.log = recording.jax_log
        self.count = 0
        annotation = jax.profiler.StepTraceAnnotation
        leave = annotation.__exit__

        def counting(step, *error):
            self.count += 1
            return leave(step, *error)

        annotation.__exit__ = counting
        self.profile = profiles.JaxProfile(self)

    def steps(self):
        return self.count or None

    def compilations(self):
        return self.log.compilations


class Progress:
    """The frameworks that the program has imported."""

    def __init__(self, recording):
        self.recording = recording
        self.watched = {}  # by module, in the order of _KINDS

    def look(self):
        """Begins to watch the frameworks whose import has ended. Returns those that are new."""
        new = []
        for kind in _KINDS:
            if kind.module in self.watched or kind.module not in self.recording.frameworks or _loaded(kind.module) is None:
                continue
            try:
                self.watched[kind.module] = kind(self.recording)
                new.append(self.watched[kind.module])
            except Exception as error:
                self.watched[kind.module] = None
                self.recording.record.problem(error)
        return new

    def active(self):
        """Returns the framework that the program works with: the first that has done anything, XLA's before PyTorch's."""
        for kind in _KINDS:
            framework = self.watched.get(kind.module)
            if framework is not None and (framework.steps() or framework.compilations()):
                return framework
        return None

    def end(self):
        """Tells the frameworks that the program has ended."""
        for framework in self.watched.values():
            if hasattr(framework, "end"):
                framework.end()


_KINDS = (TorchTpu, PyTorchXla, Jax, PyTorch)
