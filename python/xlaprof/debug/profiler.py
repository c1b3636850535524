"""The functions of torch_xla.debug.profiler, for programs that run without torch_xla.

``import xlaprof.debug.profiler as xp`` takes the place of ``import torch_xla.debug.profiler as xp``. Scopes are
recorded by xlaprof, into the directory that start_trace() or XLAPROF_RECORD names.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     start_trace(folder)
...     for step in range(2):
...         with StepTrace("train", step_num=step), Trace("forward"):
...             pass
...     stop_trace()
"""
import inspect
import itertools
import os
import sys
import threading
from types import CodeType
from typing import Dict, Iterator, Tuple, Union

from xlaprof import _program, _xlaprof
from xlaprof._recording import is_recording
from xlaprof._recording import step as _step
from xlaprof._recording import trace as _trace

_marked_step = False


def set_tracer_marked_step(value: bool):
    """Notes whether a step trace marked the step."""
    global _marked_step
    _marked_step = value


def get_tracer_marked_step() -> bool:
    """Returns what set_tracer_marked_step noted."""
    return _marked_step


def start_server(port: int, only_on_master: bool = True) -> object:
    """Raises NotImplementedError, because the package contains no profiler server.

    Record the program instead: ``XLAPROF_RECORD=runs/ python train.py``, or start_trace().
    """
    raise NotImplementedError("xlaprof's Python package contains no profiler server. Record the program instead: XLAPROF_RECORD=runs/ python "
                              "train.py, or xlaprof.profile('runs')")


def trace(service_addr: str, logdir: str, duration_ms: int = 1000, num_tracing_attempts: int = 3, host_tracer_level: int = 2,
          device_tracer_level: int = 1, delay_ms: int = 0, timeout_s: int = 120, interval_s: int = 5):
    """Captures from the profiler servers of running programs into `logdir`, and returns when it is done.

    It runs `xlaprof capture`. The levels, the timeout and the interval have no effect.
    """
    os.makedirs(logdir, exist_ok=True)
    for number in itertools.count(1):
        path = os.path.join(logdir, f"capture.{number}.xlaprof")
        if not os.path.exists(path):
            break
    _program.run("capture", *service_addr.split(","), "--duration", f"{duration_ms}ms", "--delay", f"{delay_ms}ms", "--retry",
                 str(max(0, num_tracing_attempts - 1)), "-o", path)


def trace_detached(*args, **kwargs):
    """Calls trace() in a thread, and returns at once."""
    threading.Thread(target=trace, args=args, kwargs=kwargs).start()


_places: Dict[Tuple[str, CodeType, int], _xlaprof.Place] = {}


def _place(name, frame):
    """Returns the name at the line of `frame`, or only the name while nothing records."""
    if not is_recording():
        return name
    code, line = frame.f_code, frame.f_lineno or 0
    place = _places.get((name, code, line))
    if place is None:
        if len(_places) >= 4096:  # names that are made at run time
            _places.clear()
        is_in_coroutine = code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR) != 0
        place = _xlaprof.Place(name, code.co_filename, line, getattr(code, "co_qualname", code.co_name), is_in_coroutine)
        _places[name, code, line] = place
    return place


class Trace:
    """A scope: ``with Trace("forward", layer=7):``. xlaprof.trace does the same in less time."""

    def __init__(self, name: str, **kwargs):
        self.name = name
        self._scope = self._make(_place(name, sys._getframe(1)), kwargs)

    def _make(self, name, arguments):
        return _trace(name, **arguments)

    def __enter__(self):
        self._scope.__enter__()

    def __exit__(self, type, value, traceback):
        self._scope.__exit__(type, value, traceback)


class StepTrace(Trace):
    """A step: ``with StepTrace("train", step_num=step):``. Without step_num, the steps of a name are counted from 0."""

    _counts: Dict[str, Iterator[int]] = {}

    def _make(self, name, arguments):
        number = arguments.pop("step_num", None)
        if number is None:
            number = next(self._counts.setdefault(self.name, itertools.count()))
        return _step(int(number), name, **arguments)

    def __enter__(self):
        set_tracer_marked_step(True)
        super().__enter__()


def trace_me(scope: str):
    """Returns a decorator that opens a scope around each call of a function."""

    def decorator_trace_me(func):
        return _trace(scope)(func)

    return decorator_trace_me


_lock = threading.Lock()
_is_tracing = False


def start_trace(log_dir: Union[os.PathLike, str]) -> None:
    """Starts to record into `log_dir`. Raises RuntimeError if a recording runs."""
    global _is_tracing
    with _lock:
        if _is_tracing:
            raise RuntimeError("Profile has already been started. Only one profile may be run at a time.")
        os.makedirs(log_dir, exist_ok=True)
        _xlaprof.start(os.fspath(log_dir))
        _is_tracing = True


def stop_trace() -> None:
    """Ends what start_trace() began. Raises RuntimeError if it began nothing."""
    global _is_tracing
    with _lock:
        if not _is_tracing:
            raise RuntimeError("No profile started")
        _is_tracing = False
        _xlaprof.stop()
