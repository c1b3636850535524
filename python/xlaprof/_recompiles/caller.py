"""Finds the line of the user's code that a framework works for."""
import os
import sys
import sysconfig

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_PYTHONS = tuple({os.path.abspath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib")})


def caller(*packages):
    """Returns the file and the line of the innermost caller outside of these packages, Python's library and xlaprof, or (None, None)."""
    folders = [os.path.dirname(module.__file__) + os.sep for module in map(sys.modules.get, packages) if getattr(module, "__file__", None)]
    inner = (*folders, _OURS)
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        # A library of the user's lies in Python's folder, too, so that folder counts only without the packages in it.
        is_pythons = file.startswith(_PYTHONS) and "-packages" + os.sep not in file
        if not file.startswith(inner) and not file.startswith("<") and not is_pythons:
            return file, frame.f_lineno
        frame = frame.f_back
    return None, None
