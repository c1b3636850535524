"""A file that is written now and then while the user's program runs.

The program may close all descriptors, as daemons do, and open files of its own, which then get the same numbers. So no descriptor
is kept: each write opens the file, and compares it with the file of the first opening by device and inode. If another file has its
path, nothing is written any more."""
import os
import threading
import weakref

_FIRST_NUMBER = 3  # above the standard streams, which the program may have closed


def _identity(number):
    status = os.fstat(number)
    return status.st_dev, status.st_ino


def _identity_or_none(number):
    try:
        return _identity(number)
    except OSError:
        return None


def _close(number, identity):
    """Closes a number that is still that of the file with this identity."""
    if _identity_or_none(number) == identity:
        os.close(number)


def _open(path):
    """Opens a file to append to it, at a number above the standard streams. Numbers of closed streams are taken meanwhile, by
    descriptors that can neither be read nor written."""
    taken = []
    try:
        if any(_identity_or_none(stream) is None for stream in range(_FIRST_NUMBER)):
            while not taken or taken[-1] < _FIRST_NUMBER:
                taken.append(os.open("/", os.O_PATH | os.O_CLOEXEC))
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
    finally:
        root = _identity_or_none(taken[-1]) if taken else None
        for number in taken:
            _close(number, root)


_files = weakref.WeakSet()


def _renew_locks():
    """Renews the locks in a forked child, where a thread that held one does not exist."""
    for file in _files:
        file.lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_locks)


class Replaced(OSError):
    """Another file has the path, or the program closed the number while it was written to."""


class OwnFile:
    """Can stand where a text stream is expected, such as in a handler of the logging module."""
    encoding = "utf-8"

    def __init__(self, path):
        self.name = path
        self.identity = None  # of the file, once it was opened
        self.lock = threading.Lock()
        _files.add(self)

    def write(self, text):
        """Appends to the file. Raises Replaced, or another OSError, if it cannot be written."""
        rest = memoryview(text.encode(self.encoding, "backslashreplace"))
        with self.lock:
            number = _open(self.name)
            opened = _identity(number)
            try:
                if self.identity is None:
                    self.identity = opened
                if opened != self.identity:
                    raise Replaced(f"{self.name}: is another file now")
                while rest:
                    if _identity(number) != opened:
                        raise Replaced(f"{self.name}: was closed while it was written to")
                    rest = rest[os.write(number, rest):]
            finally:
                _close(number, opened)
        return len(text)

    def flush(self):
        pass

    def close(self):
        pass


class _Stream(OwnFile):
    """A stream for the logging module, which would print to standard error what a stream raises."""

    def write(self, text):
        try:
            return super().write(text)
        except OSError:
            return len(text)


def let_go(handler):
    """Makes a handler of the logging module, which opens its file when it first needs it, keep no descriptor of that file."""
    emit = handler.emit

    def emit_and_let_go(record):
        emit(record)
        _replace_stream(handler)

    handler.acquire()
    try:
        _replace_stream(handler)
        handler.emit = emit_and_let_go
    finally:
        handler.release()


def _replace_stream(handler):
    stream = handler.stream
    if stream is None or isinstance(stream, OwnFile):
        return
    own = _Stream(stream.name)
    status = os.stat(stream.name)
    own.identity = status.st_dev, status.st_ino
    if _identity_or_none(stream.fileno()) == own.identity:
        stream.close()
    else:
        _lost.append(stream)
    handler.stream = own


_lost = []  # streams that may not be closed, because the program has their numbers now
