"""Sees what JAX compiles."""
import os
import sys
import threading

from xlaprof._recompiles.caller import caller
from xlaprof._recompiles.jax_log import JaxLog

_COMPILE = "/jax/core/compile/backend_compile_duration"  # of a program that comes from the persistent cache, too
_LOAD = "/jax/compilation_cache/cache_hits"  # comes before it on the same thread
_FLAGS = ("jax_log_compiles", "jax_explain_cache_misses")


class Jax:
    """Tells `check` of each compilation and of each step that the program annotates, and lets JAX log into the folder."""

    name = "JAX"

    def __init__(self, check, folder):
        self.check, self.folder = check, folder
        self.jax = sys.modules["jax"]
        self.of_thread = threading.local()
        self.flags = {flag: getattr(self.jax.config, flag) for flag in _FLAGS}
        self.log = JaxLog(os.path.join(folder, "jax_log.txt"), any(self.flags.values()))
        self.log.open()
        for flag in _FLAGS:
            self.jax.config.update(flag, True)
        self.is_open = True
        self.jax.monitoring.register_event_listener(self._on_event)
        self.jax.monitoring.register_event_duration_secs_listener(self._on_duration)
        self._count_steps()

    def look(self):
        """Does nothing, because JAX tells of a compilation at once."""

    def stop(self):
        self.is_open = False
        for flag, value in self.flags.items():
            self.jax.config.update(flag, value)
        self.log.close()
        _unregister(self._on_event, "event_listener")
        _unregister(self._on_duration, "event_duration_listener")
        if self.own_exit is None:
            del self.annotation.__exit__
        else:
            self.annotation.__exit__ = self.own_exit

    def _on_event(self, event, **_):
        if event == _LOAD:
            self.of_thread.loaded = True

    def _on_duration(self, event, duration, fun_name="", **_):
        if event != _COMPILE or not self.is_open:
            return
        loaded, self.of_thread.loaded = getattr(self.of_thread, "loaded", False), False
        if not loaded:
            name = str(fun_name)
            self.check.compiled(self, name[4:-1] if name.startswith("jit(") and name.endswith(")") else name, *caller("jax", "jaxlib"))

    def _count_steps(self):
        self.annotation = self.jax.profiler.StepTraceAnnotation
        self.own_exit = vars(self.annotation).get("__exit__")
        leave, check = self.annotation.__exit__, self.check

        def __exit__(step, *error):
            left = leave(step, *error)
            check.step_ended("JAX")
            return left

        self.annotation.__exit__ = __exit__


def _unregister(listener, kind):
    """Unregisters a listener if this version of JAX can do so. Otherwise it stays, and does nothing."""
    monitoring = sys.modules.get("jax._src.monitoring")
    for name in (f"unregister_{kind}", f"_unregister_{kind}_by_callback"):
        unregister = getattr(monitoring, name, None)
        if unregister is not None:
            try:
                unregister(listener)
            except (AssertionError, ValueError):
                pass  # the program has cleared all listeners
            return
