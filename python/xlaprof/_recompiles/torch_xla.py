"""Sees what PyTorch/XLA compiles."""
import atexit
import glob
import os
import shutil
import sys
import tempfile

_GROUPS = (("PT_XLA_DEBUG", "PT_XLA_DEBUG_LEVEL", "PT_XLA_DEBUG_FILE"), ("XLA_SAVE_TENSORS_FILE", "XLA_SAVE_TENSORS_FMT"))


class DebugOutput:
    """What PyTorch/XLA writes in this process: the line of each compilation, and the graphs.

    PyTorch/XLA reads its variables when it executes its first graph, and then keeps their values. It opens a file for each message. So the
    process has one folder for these files, and while no check is open, their names are links to nowhere."""

    def __init__(self):
        self.folder = None
        self.checks = 0  # that are open
        self.is_early = False  # set_early() was called
        self.is_known = False  # PyTorch/XLA has written into the folder
        self.set = {}  # variables that are set now

    def set_early(self):
        """Sets the variables until unset_early(), for checks that open after the first graph."""
        self.is_early = True
        self._set()

    def unset_early(self):
        self.is_early = False
        self._unset()

    def open(self):
        """Returns the files with their sizes. Each open() needs its close()."""
        self._set()
        self.checks += 1
        if self.folder is not None and self.checks == 1:
            for name in os.listdir(self.folder):
                os.unlink(os.path.join(self.folder, name))
        return {path: os.path.getsize(path) for path in self.files()}

    def close(self):
        self.checks -= 1
        if self.folder is None or self.checks > 0:
            return
        self.is_known = self.is_known or bool(self.files())
        if self.is_known or not self.is_early:
            self._unset()
        for name in {"debug.txt", "graphs.txt.0", *os.listdir(self.folder)}:
            _lead_nowhere(os.path.join(self.folder, name))

    def files(self):
        """Returns the paths of the files that exist, be they ours or the user's."""
        ours = {} if self.folder is None else self._variables()
        debug, graphs = (ours.get(name) or os.environ.get(name) for name in ("PT_XLA_DEBUG_FILE", "XLA_SAVE_TENSORS_FILE"))
        # The name of the second one ends in the number of the device.
        found = ([debug] if debug else []) + (glob.glob(glob.escape(graphs) + ".*") if graphs else [])
        return [path for path in found if os.path.isfile(path)]

    def _variables(self):
        return {"PT_XLA_DEBUG_LEVEL": "2", "PT_XLA_DEBUG_FILE": os.path.join(self.folder, "debug.txt"), "XLA_SAVE_TENSORS_FMT": "text",
                "XLA_SAVE_TENSORS_FILE": os.path.join(self.folder, "graphs.txt")}

    def _set(self):
        if self.set or self.is_known or any(os.environ.get(name) for group in _GROUPS for name in group):
            return  # what the user has set stays
        if self.folder is None:
            self.folder = tempfile.mkdtemp(prefix="xlaprof-")
            atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
            for name in ("debug.txt", "graphs.txt.0"):
                _lead_nowhere(os.path.join(self.folder, name))
        self.set = self._variables()
        os.environ.update(self.set)

    def _unset(self):
        # Children of this process must not write into its files.
        for name in self.set:
            os.environ.pop(name, None)
        self.set = {}


def _lead_nowhere(path):
    if os.path.lexists(path):
        os.unlink(path)
    os.symlink(os.devnull, path)


debug_output = DebugOutput()


class TorchXla:
    """Counts compilations for `check` whenever a step ends, and copies the debug output into the folder."""

    name = "PyTorch/XLA"

    def __init__(self, check, folder):
        self.check, self.folder = check, folder
        self.library = sys.modules["torch_xla"]._XLAC
        self.compiles, self.marks, self.new_marks = self._count("UncachedCompile"), self._count("MarkStep"), 0
        self.begins = debug_output.open()
        self.had_lines = self.library._get_ir_debug()
        self.library._set_ir_debug(True)  # the graphs then have the lines of their operations
        # What runs the closures of a step runs after the step, so no frame of ours is in the stacks of the debug output.
        self.model = sys.modules["torch_xla.core.xla_model"]
        self.run_closures = self.model._run_step_closures

        def run_step_closures(*args):
            self.new_marks += 1
            check.step_ended("PyTorch/XLA")
            return self.run_closures(*args)

        self.model._run_step_closures = run_step_closures

    def look(self):
        """Tells `check` what was compiled since the last look."""
        before, expected_marks = self.compiles, self.marks + self.new_marks
        self.compiles, self.marks, self.new_marks = self._count("UncachedCompile"), self._count("MarkStep"), 0
        if self.marks < expected_marks:
            before = 0  # the program has cleared the counters
        for _ in range(self.compiles - before):
            self.check.compiled(self, "", None, None)

    def stop(self):
        self.model._run_step_closures = self.run_closures
        self.library._set_ir_debug(self.had_lines)
        for path in debug_output.files():
            with open(path, "rb") as whole, open(os.path.join(self.folder, os.path.basename(path)), "wb") as part:
                whole.seek(self.begins.get(path, 0))
                shutil.copyfileobj(whole, part)
        debug_output.close()

    def _count(self, name):
        return self.library._xla_counter_value(name) or 0
