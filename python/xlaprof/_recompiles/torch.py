"""Sees what torch.compile compiles."""
import contextlib
import logging
import os
import sys

from xlaprof._recompiles.caller import caller
from xlaprof._recompiles.own_file import OwnFile


class Torch(logging.Handler):
    """Tells `check` of each compilation, and writes torch's structured trace into the folder, as TORCH_TRACE does.

    What Inductor finds in its cache was compiled all the same: Dynamo traced the function again, because a guard failed."""

    name = "torch.compile"

    def __init__(self, check, folder):
        super().__init__()
        self.check, self.folder, self.is_stopped = check, folder, False
        internal = sys.modules["torch._logging._internal"]
        self.logger = internal.trace_log
        self.setFormatter(internal.TorchLogsFormatter(trace=True))
        self.file = OwnFile(os.path.join(folder, "dedicated_log_torch_trace_.log"))
        # A trace names files by numbers, which torch writes only once per process.
        for text, number in list(sys.modules["torch._logging.structured"].INTERN_TABLE.items()):
            record = logging.LogRecord(self.logger.name, logging.DEBUG, __file__, 0, "", (), None)
            record.metadata, record.payload = {"str": (text, number)}, None
            self._write(record)
        # torch's own handler may remove itself while it handles the first record, and the one after it then misses that record.
        self.logger.handlers.insert(0, self)

    def look(self):
        """Does nothing, because torch tells of a compilation at once."""

    def stop(self):
        self.logger.removeHandler(self)
        self.acquire()
        self.is_stopped = True
        self.release()
        self.close()

    def emit(self, record):
        try:
            with contextlib.suppress(OSError):  # the reason is then not known, but the compilation counts
                self._write(record)
            metrics = getattr(record, "metadata", {}).get("compilation_metrics")
            if metrics is not None and not metrics.get("fail_type"):
                self.check.compiled(self, metrics.get("co_name") or "", *caller("torch"))
        except Exception:
            self.handleError(record)

    def _write(self, record):
        if not self.is_stopped:
            self.file.write(self.format(record) + "\n")
