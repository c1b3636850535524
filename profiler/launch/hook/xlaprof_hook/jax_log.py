"""Writes JAX's messages about compilations to a file."""
import logging
import threading

from .own_file import OwnFile

# Loggers of JAX 0.4 to 0.12 that write such messages, and how the messages begin.
_LOGGERS = ("dispatch", "interpreters.pxla", "interpreters.partial_eval", "pjit", "compiler", "compilation_cache")
_BEGINNINGS = ("Finished ", "Compiling ", "TRACING CACHE MISS", "Persistent compilation cache ", "PERSISTENT COMPILATION CACHE MISS",
               "Writing ", "Not writing ")
_FINISHED = "Finished XLA compilation"


class JaxLog:
    """Writes the messages to the file `path`, and takes them out of the program's log, unless the user wants them there.

    Several may be open at the same time; each gets all messages. The loggers need not exist yet."""

    def __init__(self, path, is_wanted):
        self.is_wanted = is_wanted
        self.file = OwnFile(path)
        self.compilations = 0  # that this process has finished
        self.lock = threading.Lock()
        self.format = logging.Formatter("{levelname}:{asctime}:{name}:{lineno}: {message}", style="{").format
        self.loggers = [logging.getLogger("jax._src." + name) for name in _LOGGERS]

    def open(self):
        for logger in self.loggers:
            logger.filters.insert(0, self.write)  # before filters that take messages out
            logger.filters.append(self.is_shown)

    def close(self):
        for logger in self.loggers:
            logger.removeFilter(self.write)
            logger.removeFilter(self.is_shown)

    def write(self, record):
        try:
            message = record.getMessage()
            if message.startswith(_BEGINNINGS):
                with self.lock:
                    self.compilations += message.startswith(_FINISHED)
                self.file.write(self.format(record) + "\n")
        except Exception:
            pass
        return True

    def is_shown(self, record):
        try:
            return self.is_wanted or not record.getMessage().startswith(_BEGINNINGS)
        except Exception:
            return True

