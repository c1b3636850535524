"""Records scopes, steps and counters. The extension does it; this module adds what is not called often."""
import functools
import os
import sys
import threading

from xlaprof import _helpers, _xlaprof
from xlaprof._xlaprof import counter, instant, is_recording, name_process, step, trace


def steps(iterable, name="step", first=0):
    """Returns an iterator over `iterable` in which each turn of the loop is a step.

    >>> for item in steps(["a", "b"]):
    ...     print(item)
    a
    b

    Steps are numbered from `first`. A step ends when the next item is asked for, so the time that an item takes to
    come lies between two steps.
    """
    frame = sys._getframe(1)
    code = frame.f_code
    place = _xlaprof.Place(name, code.co_filename, frame.f_lineno or 0, getattr(code, "co_qualname", code.co_name))
    return _steps(iterable, place, first)


def _steps(iterable, place, first):
    for number, item in enumerate(iterable, first):
        with step(number, place):
            yield item


class profile:
    """Records this process while its block runs, or from start() to stop().

    `path` is a directory, in which each process has its own file, or a file. A path that does not exist becomes a
    directory if its name has no extension. Children that this process forks record into the same directory.
    Processes that it starts anew are recorded if XLAPROF_RECORD names the directory.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, profile(folder) as recording:
    ...     with trace("forward"):
    ...         is_recording()
    True

    `file` is the path of this process's file, and `stats` has counts of what it holds when the recording has ended.
    If nobody stops a recording, it ends with the process.

    If XLAPROF_RECORD already records this process, as under `xlaprof run`, that recording goes on, and this adds to it:
    `path` becomes what the variable names, and `file` and `stats` stay None.
    """

    _is_open = False  # some profile records

    def __init__(self, path):
        self.path = os.fspath(path)
        self.file = None
        self.stats = None

    def start(self):
        """Begins to record. Raises RuntimeError if another profile records already, and OSError if it cannot."""
        if not profile._is_open and is_recording() and os.environ.get("XLAPROF_RECORD"):
            self.path = os.environ["XLAPROF_RECORD"]
            return self
        self.file = _xlaprof.start(self.path)
        profile._is_open = True
        return self

    def stop(self):
        """Ends the recording, and returns its counts. Does nothing if it has ended, or in a forked child."""
        if self.file is None:
            return None
        stats = _xlaprof.stop()
        if stats is not None:
            profile._is_open = False
            self.stats = stats
        return self.stats

    def open(self):
        """Returns what was recorded, as xlaprof.open does."""
        from xlaprof import _run

        return _run.open(self.path)

    __enter__ = start

    def __exit__(self, *error):
        self.stop()

    def __repr__(self):
        return f"xlaprof.profile({self.path!r})"


def _wrap(function, name, arguments):
    """Returns `function` with a scope around each call. The scope's place is the function's."""
    inner = function
    while hasattr(inner, "__wrapped__"):
        inner = inner.__wrapped__
    code = getattr(inner, "__code__", None)
    kind = _helpers.kind_of(function)
    if code is not None and isinstance(name, str):
        name = _xlaprof.Place(name, code.co_filename, code.co_firstlineno, getattr(inner, "__qualname__", code.co_name), kind == "coroutine")
    if kind == "coroutine":

        @functools.wraps(function)
        async def wrapper(*args, **kwargs):
            with trace(name, **arguments):
                return await function(*args, **kwargs)
    elif kind == "generator":

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with trace(name, **arguments):
                return (yield from function(*args, **kwargs))
    elif kind == "async generator":
        raise TypeError("xlaprof.trace does not decorate asynchronous generators. Use `with xlaprof.trace(...)` in it")
    elif arguments:

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with trace(name, **arguments):
                return function(*args, **kwargs)
    else:

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with trace(name):
                return function(*args, **kwargs)

    return wrapper


_step_observers = ()


def _after_step():
    for observer in _step_observers:
        observer()


def add_step_observer(observer):
    """Calls observer() after each step of step(), steps() and the callbacks, whether it is recorded or not."""
    global _step_observers
    _step_observers = (*_step_observers, observer)
    _xlaprof.set_after_step(_after_step)


def remove_step_observer(observer):
    global _step_observers
    _step_observers = tuple(other for other in _step_observers if other != observer)
    _xlaprof.set_after_step(_after_step if _step_observers else None)


def _thread_name():
    """Returns the calling thread's name, or None for a thread that Python did not start."""
    ident = threading.get_ident()
    return next((thread.name for thread in threading.enumerate() if thread.ident == ident), None)


# Children of multiprocessing end by os._exit, which ends no recording. They end it before that.
def _end_with_multiprocessing(_):
    util = sys.modules["multiprocessing.util"]
    util.Finalize(None, _xlaprof.end_in_child, exitpriority=-100)


def _before_fork():
    util = sys.modules.get("multiprocessing.util")
    if util is not None and not hasattr(_before_fork, "is_registered"):
        _before_fork.is_registered = True
        util.register_after_fork(_before_fork, _end_with_multiprocessing)


def _script():
    """Returns the name of the program's file, or "" if there is none."""
    words = getattr(sys, "argv", None) or [""]
    return "" if words[0] in ("-c", "-m") else os.path.basename(words[0])


_xlaprof.set_helpers(_helpers.line_of, _helpers.value_of)
_xlaprof.set_scope_helpers(_wrap, _thread_name)
if _script():
    name_process(_script())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork)
