"""Samples the Python stacks of all threads."""
import sys
import threading
import time

_MAX_FRAMES = 256  # of one stack; deeper ones lose their outermost frames


class Stacks:
    """Writes samples to a record (record.py). Codes, frames and threads are written when they are first seen."""

    def __init__(self, record):
        self.record = record
        self.codes = {}  # by id, because the hash of a code object takes long
        self.kept = []  # the code objects, so that no other gets the id of one
        self.frames = {}
        self.threads = {}  # Python's number of a thread -> its native id
        self.count = 0

    def take(self, period_ns):
        """Samples the threads other than the calling one."""
        line = ["samples", time.time_ns(), period_ns]
        own = threading.get_ident()
        for ident, frame in sys._current_frames().items():
            if ident != own:
                line.append(self._thread(ident))
                line.append(self._frame(frame))
        self.record.add(*line)
        self.count += 1

    def _thread(self, ident):
        native = self.threads.get(ident)
        if native is None:
            thread = threading._active.get(ident)
            native = self.threads[ident] = getattr(thread, "native_id", None) or ident
            self.record.add("thread", native, thread.name if thread else "")
        return native

    def _frame(self, frame):
        chain = []
        while frame is not None and len(chain) < _MAX_FRAMES:
            chain.append((frame.f_code, frame.f_lineno))
            frame = frame.f_back
        number = -1
        for code, line in reversed(chain):
            key = (number, id(code), line)
            found = self.frames.get(key)
            if found is None:
                code_number = self._code(code)
                found = self.frames[key] = len(self.frames)
                self.record.add("frame", found, number, code_number, line or 0)
            number = found
        return number

    def _code(self, code):
        number = self.codes.get(id(code))
        if number is None:
            number = self.codes[id(code)] = len(self.kept)
            self.kept.append(code)
            self.record.add("code", number, getattr(code, "co_qualname", code.co_name), code.co_filename)
        return number
