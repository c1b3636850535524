"""Tells whose code a Python file is, by the table code.txt, as profiler/vocabulary/code.h does for files that were recorded."""
import functools
import os
import sysconfig

_PACKAGES = ("/site-packages/", "/dist-packages/")


def _read():
    """Returns the lines of each section as (pattern, owner, traits)."""
    sections, section = {}, None
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "code.txt"), encoding="utf-8") as file:
        for line in file:
            words, colon, patterns = line.strip().partition(":")
            words = words.split()
            if not words or words[0].startswith("#") or words[0] in ("owner", "trait"):
                continue
            if not colon:
                section = sections.setdefault(words[1], [])
            else:
                section += [(pattern, words[0], frozenset(words[1:])) for pattern in patterns.split() or [""]]
    return sections


_SECTIONS = _read()


@functools.lru_cache(maxsize=None)
def folders():
    """Returns the folders of this interpreter's own library, and those of its packages."""
    paths = sysconfig.get_paths()
    return tuple(sorted({os.path.abspath(paths[name]) for name in names}) for names in (("stdlib", "platstdlib"), ("purelib", "platlib")))


def _first(section, path, otherwise):
    return next(((owner, traits) for pattern, owner, traits in _SECTIONS[section] if path.startswith(pattern)), (otherwise, frozenset()))


@functools.lru_cache(maxsize=4096)
def of(file):
    """Returns (owner, traits) of the file. The owner is a word of code.txt."""
    if file.startswith("<"):
        return _first("typed", file, "python")
    library, packages = folders()
    for folder in packages:
        if file.startswith(folder + os.sep):
            return _first("package", file[len(folder) + 1:], "library")
    for folder in _PACKAGES:
        if folder in file:
            return _first("package", file.rpartition(folder)[2], "library")
    for folder in library:
        if file.startswith(folder + os.sep):
            return _first("python", file[len(folder) + 1:], "python")
    for pattern, owner, traits in _SECTIONS["tree"]:
        if pattern in file:
            return _first("package", file[file.rfind(pattern) + 1:], owner)
    return "user", frozenset()
