"""Fails if a program goes on compiling after its first steps."""
import importlib
import os
import shutil
import sys
import tempfile
import warnings

from xlaprof import _recording

# The module that a program imports, the framework's name, and the class that watches it, which is in the module of the same name here.
_FRAMEWORKS = (("torch", "torch.compile", "Torch"), ("torch_xla", "PyTorch/XLA", "TorchXla"), ("jax", "JAX", "Jax"))
# What counts as a step, the most explicit first. The steps of the first that ended any are those of the check.
_STEPS = ("check", "xlaprof", "PyTorch/XLA", "JAX")


class Recompiled(AssertionError):
    """Something was compiled in a step that may not compile. The message is what xlaprof found out about it.

    `compiles` says what was compiled in such steps, and `findings` holds the findings about it.
    """

    def __init__(self, message, compiles, findings):
        super().__init__(message)
        self.compiles = compiles
        self.findings = findings


class Compile:
    """A compilation: its framework, its step (from 1), its function if that is known, and the line of the program that led to it."""

    def __init__(self, framework, ended, function, file, line):
        self.framework = framework
        self.ended = ended  # steps before it, of each kind
        self.step = None
        self.function = function
        self.file = file
        self.line = line

    def __repr__(self):
        return f"<{self}>"

    def __str__(self):
        what = f"{self.function} was compiled" if self.function else "a graph was compiled"
        return f"{what} in step {self.step}" + (f" at {self.file}:{self.line}" if self.file else "")


class no_recompiles:
    """Raises Recompiled if something is compiled in its block after the first `after` steps.

    ``with no_recompiles(after=2) as steps:`` and in it ``for batch in steps(loader):`` make each turn of the loop a step,
    and ``steps.step()`` ends a step elsewhere. A block without these counts the steps of xlaprof (xlaprof.step,
    xlaprof.steps and the callbacks), or else PyTorch/XLA's step marks, or else JAX's StepTraceAnnotation. A block that
    ends no more than `after` steps raises RuntimeError, because it checked nothing; ``no_recompiles(after=0)`` needs no
    steps.

    It watches JAX, PyTorch/XLA and torch.compile, those that the program has imported. Programs that come from a cache were
    not compiled. Blocks may lie in each other. An exception of the block passes through.
    """

    def __init__(self, after=2):
        if not isinstance(after, int) or after < 0:
            raise ValueError(f"xlaprof: after={after!r} is not a number of steps")
        self.after = after
        self._is_open = False

    def __enter__(self):
        if self._is_open:
            raise RuntimeError("xlaprof: no_recompiles is open already. Call no_recompiles(...) in each `with`")
        self._ended = dict.fromkeys(_STEPS, 0)
        self._compiles = []
        self._watches = []
        self._unseen = {}  # a framework that the block imported -> the steps that had ended when it was first watched
        self._folder = tempfile.mkdtemp(prefix="xlaprof-")
        try:
            self._watch()
        except BaseException:
            self._stop()
            self._delete()
            raise
        self._unseen.clear()
        self._is_open = True
        _recording.add_step_observer(self._on_step)
        return self

    def __exit__(self, kind, error, traceback):
        __tracebackhide__ = True  # pytest then shows the block, and not this function
        self._is_open = False
        _recording.remove_step_observer(self._on_step)
        for watch in self._watches:
            watch.look()
        self._stop()
        try:
            failure = self._judge() if kind is None else None
        finally:
            self._delete()
        if failure is not None:
            raise failure

    def __call__(self, iterable):
        """Returns an iterator over `iterable` that ends a step whenever the next item is asked for."""
        for item in iterable:
            yield item
            self.step()

    def step(self):
        """Ends a step."""
        self.step_ended("check")

    def step_ended(self, kind):
        """Ends a step of this kind. For the watches."""
        if self._is_open:
            for watch in self._watches:
                watch.look()
            self._ended[kind] += 1
            self._watch()

    def compiled(self, watch, function, file, line):
        """Notes a compilation. For the watches."""
        self._compiles.append(Compile(watch.name, dict(self._ended), function, file, line))

    def _on_step(self):
        self.step_ended("xlaprof")

    def _watch(self):
        """Watches the frameworks that the program has imported since the last call."""
        for module, name, kind in _FRAMEWORKS:
            if module not in self._unseen and not any(watch.name == name for watch in self._watches) and _is_loaded(module):
                self._unseen[module] = dict(self._ended)
                folder = os.path.join(self._folder, module)
                os.mkdir(folder)
                watch = getattr(importlib.import_module(f"xlaprof._recompiles.{module}"), kind)
                try:
                    self._watches.append(watch(self, folder))
                except (AttributeError, KeyError) as error:
                    version = getattr(sys.modules[module], "__version__", "of unknown version")
                    raise RuntimeError(f"xlaprof: no_recompiles cannot watch {module} {version}: {error}") from error

    def _stop(self):
        for watch in self._watches:
            watch.stop()

    def _delete(self):
        shutil.rmtree(self._folder, ignore_errors=True)

    def _judge(self):
        """Returns the exception that the block deserves, or None."""
        kind = next((kind for kind in _STEPS if self._ended[kind]), "check")
        unseen = {module for module, ended in self._unseen.items() if ended[kind] > self.after}
        unseen |= {module for module, name, _ in _FRAMEWORKS if _is_loaded(module) and not any(watch.name == name for watch in self._watches)}
        for module in sorted(unseen):
            warnings.warn(f"xlaprof.no_recompiles did not see all that {module} compiled, because its block imports {module}. Import it before",
                          stacklevel=3)
        for compile in self._compiles:
            compile.step = compile.ended[kind] + 1
        late = [compile for compile in self._compiles if compile.step > self.after]
        if late:
            from xlaprof._recompiles import explain  # which takes some milliseconds

            texts, findings = explain.explain(self._watches, self._compiles, late)  # which may find the lines of compilations
            return Recompiled("\n\n".join([self._summary(late), *texts]), late, findings)
        if self._ended[kind] <= self.after and self.after > 0:
            return RuntimeError(
                f"xlaprof: the block ended {self._ended[kind]} steps, all of which may compile with after={self.after}, so nothing was checked. "
                "Mark the steps: `with xlaprof.no_recompiles(...) as steps:` and `for batch in steps(loader):`")
        return None

    def _summary(self, late):
        allowed = "no step" if self.after == 0 else "only step 1" if self.after == 1 else f"only steps 1 to {self.after}"
        shown = [f"  {compile}" for compile in late[:10]] + ([f"  and {len(late) - 10} more"] if len(late) > 10 else [])
        count = "1 compilation" if len(late) == 1 else f"{len(late)} compilations"
        return "\n".join([f"{count} too many, because {allowed} may compile:", *shown])


def _is_loaded(name):
    """Returns whether a module was imported, and its import has ended."""
    module = sys.modules.get(name)
    return module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False)


Recompiled.__module__ = no_recompiles.__module__ = "xlaprof"  # where programs find them
