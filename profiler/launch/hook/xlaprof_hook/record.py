"""The file process.PID.jsonl, to which a process writes what `xlaprof run` records of it.

Each line is a JSON array that begins with its kind. Times are nanoseconds since 1970.

  ["process", version, pid, parent's pid, rank or null, host, [words of the command], begin]
  ["python", [folders of the interpreter's own library], [folders of its packages]]
  ["framework", name, version or null, {variable that was set: value}]
  ["code", id, function, file]                     a function; ids count from 0
  ["frame", id, caller's frame or -1, code, line]  a call stack is the chain of its frames; ids count from 0
  ["thread", native id, name]
  ["samples", time, ns until the next sample is due, native id, frame, native id, frame, ...]
  ["state", time, steps or null, what counts as a step or null, compilations, CPU ns of the process, CPU ns of recording it]
  ["compiles", n, end, length, end, length, ...]   times of the compilations from the n-th on, counted from 0, as the framework measured them
  ["profile", why, begin, end, steps at its begin or null, steps at its end or null, error or null]
  ["problem", text]                                something that could not be recorded
  ["end", time]                                    the program ended by itself

A process that is killed leaves a file that is valid up to its last whole line."""
import json
import os
import socket
import sys
import threading
import time

from xlaprof_hook import code
from xlaprof_hook.own_file import OwnFile

VERSION = 1


def _rank():
    """Returns this process's rank in its job, or None."""
    for name in ("RANK", "PJRT_LOCAL_PROCESS_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "JAX_PROCESS_ID"):
        value = os.environ.get(name, "")
        if value.isdecimal():
            return int(value)
    return None


class Record:
    """Lines wait in memory until `flush`. A forked child writes nothing, because the file is its parent's."""

    def __init__(self, folder):
        self.pid = os.getpid()
        self.path = os.path.join(folder, f"process.{self.pid}.jsonl")
        self.file = OwnFile(self.path)
        self.lines = []
        self.is_begun = False
        self.lock = threading.Lock()

    def add(self, *line):
        self.lines.append(line)

    def problem(self, error):
        """Writes down at once what failed, and never fails itself."""
        try:
            self.add("problem", error if isinstance(error, str) else f"{type(error).__name__}: {error}")
            self.flush()
        except Exception:
            pass

    def flush(self):
        with self.lock:
            lines, self.lines = self.lines, []
            if not lines or os.getpid() != self.pid:
                return
            if not self.is_begun:
                self.is_begun = True
                command = getattr(sys, "orig_argv", None) or sys.argv
                lines.insert(0, ("python", *code.folders()))
                lines.insert(0, ("process", VERSION, self.pid, os.getppid(), _rank(), socket.gethostname(), command, time.time_ns()))
            self.file.write("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
