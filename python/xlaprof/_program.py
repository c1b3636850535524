"""Finds and runs the program xlaprof, which analyses runs."""
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig


class Error(Exception):
    """What the program says if it cannot do something."""


def find_program():
    """Returns the path of the program xlaprof.

    It is XLAPROF_PROGRAM if that is set, or else the program that pip installed with this package, that was built with
    it, or that is on PATH.
    """
    if os.environ.get("XLAPROF_PROGRAM"):
        return os.environ["XLAPROF_PROGRAM"]
    package = pathlib.Path(__file__).parent  # of a build: build/PRESET/python/xlaprof
    # pip puts programs beside Python, also in an environment whose Python is a link.
    places = [pathlib.Path(sysconfig.get_path("scripts")) / "xlaprof", pathlib.Path(sys.executable).parent / "xlaprof",
              package.parents[3] / "bin/xlaprof", package.parents[1] / "xlaprof"]
    for place in places:
        if place.is_file() and os.access(place, os.X_OK):
            return str(place)
    if found := shutil.which("xlaprof"):
        return found
    raise Error("the program xlaprof was not found. Install the wheel, or name the program in XLAPROF_PROGRAM")


def environment():
    """Returns the environment of the program, which is not recorded itself."""
    return {key: value for key, value in os.environ.items() if key not in ("XLAPROF_RECORD", "XLAPROF_REPORT")} | {"COLUMNS": "100"}


def run(*words):
    """Runs the program, and returns what it prints. Raises Error with its message if it fails."""
    program = find_program()
    try:
        done = subprocess.run([program, *map(os.fspath, words)], capture_output=True, env=environment(), stdin=subprocess.DEVNULL)
    except OSError as error:
        raise Error(f"{program}: {error.strerror}") from None
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip() or f"{program} ended with {done.returncode}"
        raise Error(said[len("xlaprof: "):] if said.startswith("xlaprof: ") else said)
    return done.stdout.decode(errors="replace")
