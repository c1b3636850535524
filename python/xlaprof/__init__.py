"""Explains why a step of PyTorch/XLA, JAX or PyTorch is slow, and records Python programs.

Record a program:

>>> import tempfile, xlaprof
>>> with tempfile.TemporaryDirectory() as folder:
...     with xlaprof.profile(folder) as recording:
...         for number in range(3):
...             with xlaprof.step(number), xlaprof.trace("forward", layer=7):
...                 pass
...     recording.stats["events"]
6

Without a change of its last lines, ``XLAPROF_RECORD=runs/ python train.py`` records a program that imports
xlaprof. Read what was recorded, or the files of a run of PyTorch/XLA, JAX or PyTorch:

``run = xlaprof.open("runs")`` and then ``run.report()``, ``run.findings``, ``run.steps``, ``run.compiles``,
``run.sql("SELECT name, sum(dur_ns) FROM event GROUP BY name")`` and ``run.view()``.
"""
import importlib

from xlaprof._recording import counter, instant, is_recording, name_process, profile, step, steps, trace
from xlaprof._xlaprof import Scope

# What reads runs, and what checks them, is loaded when it is used, so that a program that records starts quickly.
_MODULES = dict.fromkeys(("Error", "Evidence", "Finding", "Report", "Run", "Table", "View", "open"), "xlaprof._run")
_MODULES |= dict.fromkeys(("Recompiled", "no_recompiles"), "xlaprof._recompiles")


def __getattr__(name):
    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'xlaprof' has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_MODULES])


__all__ = ["Error", "Evidence", "Finding", "Recompiled", "Report", "Run", "Scope", "Table", "View", "counter", "instant", "is_recording",
           "name_process", "no_recompiles", "open", "profile", "step", "steps", "trace"]
