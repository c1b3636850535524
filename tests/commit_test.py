#!/usr/bin/python3
"""Checks which commit cmake/commit.cmake writes: of a checkout, of one with changes, and of a source archive."""
import pathlib
import re
import subprocess
import tempfile

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "cmake/commit.cmake"


def run(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout.strip()


def git(folder, *command):
    return run("git", "-C", folder, "-c", "user.name=n", "-c", "user.email=e", *command)


def commit_of(folder):
    file = folder.parent / "commit.cc"
    run("cmake", f"-DSOURCE={folder}", f"-DFILE={file}", "-P", SCRIPT)
    return re.search('kCommit = "(.*)"', file.read_text())[1]


def expect(what, found, expected):
    assert found == expected, f"{what}: {found!r}, expected {expected!r}"


with tempfile.TemporaryDirectory(prefix="xlaprof-commit-") as scratch:
    checkout = pathlib.Path(scratch) / "checkout"
    checkout.mkdir()
    expect("an archive", commit_of(checkout), "unknown")
    git(checkout, "init", "-q")
    expect("a checkout without a commit", commit_of(checkout), "unknown")
    (checkout / "file").write_text("a")
    git(checkout, "add", "file")
    git(checkout, "commit", "-q", "-m", "first")
    first = git(checkout, "rev-parse", "--short=12", "HEAD")
    expect("a checkout", commit_of(checkout), first)
    time = (checkout.parent / "commit.cc").stat().st_mtime_ns
    expect("a checkout again", commit_of(checkout), first)
    expect("a file that is up to date", (checkout.parent / "commit.cc").stat().st_mtime_ns, time)
    (checkout / "file").write_text("b")
    expect("a changed checkout", commit_of(checkout), first + ", with changes")
    archive = checkout / "archive"
    archive.mkdir()
    expect("an archive in a checkout", commit_of(archive), "unknown")
print("commit: names the commit of a checkout only")
