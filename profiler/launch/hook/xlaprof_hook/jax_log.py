"""Writes JAX's messages about compilations to a file."""
import logging
import threading

# Loggers of JAX 0.4 to 0.12 that write such messages, and how the messages begin.
_LOGGERS = ("dispatch", "interpreters.pxla", "interpreters.partial_eval", "pjit", "compiler", "compilation_cache")
_BEGINNINGS = ("Finished ", "Compiling ", "TRACING CACHE MISS", "Persistent compilation cache ", "PERSISTENT COMPILATION CACHE MISS",
               "Writing ", "Not writing ")
_FINISHED = "Finished XLA compilation"

compilations = 0  # that this process has finished


class _Divert(logging.Filter):
    """Takes the messages out of the program's log, unless the user wants them there."""

    def __init__(self, path, is_wanted):
        super().__init__()
        self.path = path
        self.is_wanted = is_wanted
        self.file = None
        self.lock = threading.Lock()
        self.format = logging.Formatter("{levelname}:{asctime}:{name}:{lineno}: {message}", style="{").format

    def filter(self, record):
        global compilations
        try:
            message = record.getMessage()
            if not message.startswith(_BEGINNINGS):
                return True
            with self.lock:
                if self.file is None:
                    self.file = open(self.path, "a", encoding="utf-8", buffering=1)
                self.file.write(self.format(record) + "\n")
                compilations += message.startswith(_FINISHED)
            return self.is_wanted
        except Exception:
            return True


def divert(path, is_wanted):
    """Makes the loggers write to the file `path`. They need not exist yet."""
    divert_all = _Divert(path, is_wanted)
    for name in _LOGGERS:
        logging.getLogger("jax._src." + name).addFilter(divert_all)
