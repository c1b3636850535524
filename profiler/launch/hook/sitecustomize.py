"""Python imports this module at its start, because `xlaprof run` puts its folder first on PYTHONPATH.

Whatever fails here, the user's program must run as it does without xlaprof."""
import os
import sys


def _import_users_own():
    """Imports the sitecustomize that this module hides, if there is one."""
    import importlib.machinery
    import importlib.util
    folder = os.path.dirname(os.path.abspath(__file__))
    paths = [path for path in sys.path if os.path.abspath(path or ".") != folder]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", paths)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


try:
    import xlaprof_hook
    xlaprof_hook.install()
except Exception:
    pass  # this process is not recorded, and `xlaprof run` says so
_import_users_own()
