"""What the programs of this folder count themselves, with times of the clock in nanoseconds since 1970."""
import contextlib
import json
import time


class Seen:
    def __init__(self):
        self.intervals = {}  # by what was done: [begin, end]
        self.logged = {}  # by name: values
        self.reads = 0  # of values that may be on a device, by the thread that trains

    @contextlib.contextmanager
    def doing(self, what, seconds=0.0):
        """Notes when its block ran, which takes at least so many seconds."""
        begin = time.time_ns()
        yield
        time.sleep(seconds)
        self.intervals.setdefault(what, []).append([begin, time.time_ns()])

    def log(self, name, value):
        self.logged.setdefault(name, []).append(value)

    def print(self, **more):
        print(json.dumps({"intervals": self.intervals, "logged": self.logged, "reads": self.reads, **more}))
