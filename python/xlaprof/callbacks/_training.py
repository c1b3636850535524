"""What the callbacks share: they record steps, the scopes in them, and numbers."""
from xlaprof._recording import counter, is_recording, profile, step, trace
from xlaprof._xlaprof import Place


def place(name, function=None):
    """Returns a name whose place is that of a function of the user's. Without a function, the place is unknown."""
    code = getattr(function, "__code__", None)
    return Place(name, "", 0, "") if code is None else Place(name, code.co_filename, code.co_firstlineno, function.__qualname__)


class Training:
    """Records one training after the other. With a path, it also starts and ends the recording.

    Scopes lie in each other, and a framework does not say when a step failed. So a scope that ends also ends those
    that it encloses, and a training that begins ends all.
    """

    def __init__(self, path):
        self._path = path
        self._recording = None
        self._open = []  # the place and the scope of each open scope, the outermost first

    def begin(self):
        """Begins a training. A recording that runs already also holds this one."""
        self._end_scopes(0)
        if self._path is not None and not is_recording():
            self._recording = profile(self._path).start()

    def end(self):
        """Ends the training, and the recording that begin() started."""
        self._end_scopes(0)
        recording, self._recording = self._recording, None
        if recording is not None:
            recording.stop()

    def begin_step(self, number, where):
        self._enter(where, step(number, where))

    def begin_scope(self, where):
        self._enter(where, trace(where))

    def end_scope(self, where):
        """Ends the innermost open scope or step of this place. Does nothing if there is none."""
        for depth in range(len(self._open) - 1, -1, -1):
            if self._open[depth][0] is where:
                self._end_scopes(depth)
                return

    def is_open(self, where):
        return any(place is where for place, _ in self._open)

    def count(self, values):
        """Records those values that are Python's numbers. All else might have to wait for a device."""
        for name, value in (values or {}).items():
            if type(value) in (int, float):
                counter(str(name), value)

    def _enter(self, where, scope):
        scope.__enter__()
        self._open.append((where, scope))

    def _end_scopes(self, depth):
        while len(self._open) > depth:
            self._open.pop()[1].__exit__(None, None, None)
