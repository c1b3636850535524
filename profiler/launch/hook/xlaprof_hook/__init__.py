"""Records a Python program for `xlaprof run`.

XLAPROF_RUN names the directory of the recording, and XLAPROF_RUN_OPTIONS holds the options of `xlaprof run` as JSON. Importing a
framework sets the variables that this framework reads (recipes.py) and starts one thread (observer.py). The thread samples the
stacks of the other threads, watches how far the program is, and takes a profile of some steady steps. A program that imports no
framework runs without any of this.

Nothing here may raise into the program or write to its standard streams."""
import json
import os
import sys

from xlaprof_hook import recipes
from xlaprof_hook.record import Record


class _Imports:
    """A finder that finds nothing, but sees the import of each module before the module runs."""

    def __init__(self, recording):
        self.recording = recording

    def find_spec(self, name, path=None, target=None):
        if name in recipes.FRAMEWORKS:
            self.recording.begin(name)


class Recording:
    """What this process records. `folder` is shared by all processes of the run."""

    def __init__(self, folder, options):
        self.folder = folder
        self.options = options
        self.record = Record(folder)
        self.frameworks = {}  # the name of each framework -> the variables that were set for it
        self.observer = None

    def begin(self, framework):
        """Prepares for a framework that is about to be imported."""
        if framework in self.frameworks:
            return
        try:
            self.frameworks[framework] = recipes.FRAMEWORKS[framework](self)
            if self.observer is None:
                from xlaprof_hook.observer import Observer
                self.observer = Observer(self)
                self.observer.start()
        except Exception as error:
            self.record.problem(error)


recording = None


def install():
    """Begins to watch this process's imports."""
    global recording
    folder = os.environ.get("XLAPROF_RUN")
    if not folder or recording is not None:
        return
    recording = Recording(folder, json.loads(os.environ.get("XLAPROF_RUN_OPTIONS") or "{}"))
    sys.meta_path.insert(0, _Imports(recording))
