"""Finds the line of the user's code that a framework works for."""
import os
import sys

from xlaprof._recompiles import code

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def caller(*packages):
    """Returns the file and the line of the innermost caller in the user's code, outside of these packages and of xlaprof, or (None, None)."""
    folders = [os.path.dirname(module.__file__) + os.sep for module in map(sys.modules.get, packages) if getattr(module, "__file__", None)]
    inner = (*folders, _OURS)
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(inner) and code.of(file)[0] == "user":
            return file, frame.f_lineno
        frame = frame.f_back
    return None, None
