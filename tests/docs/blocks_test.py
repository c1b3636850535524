#!/usr/bin/python3
"""blocks_test.py TORCH_PYTHON RECORDED_PROGRAM [PAGE...] runs each block of README.md and of the tutorial, in order, and compares what it prints
with what the page says. The commands of each page run in a folder and a virtual environment of its own, into which the page's own
`pip install` installs the newest wheel in dist/. pages.py says how blocks are marked."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

from pages import ROOT, RUN, blocks_of, difference

# The versions that pip installs if a page names none.
PINS = ("numpy==2.4.6", "pytest==9.2.0")
FOLDER_ON_PAGES = "/home/user/tutorial/"

TRAINING = """
import torch
model = torch.nn.Linear(64, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
batches = [torch.randn(32, 64) for _ in range(40)]
def train(batch):
    model(batch).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
# README.md is read by people who have a program of their own. These are the programs that its blocks name.
README_FILES = {"train.py": TRAINING + "for batch in batches: train(batch)\n"}
# scripts/wheel takes half an hour, so it is run before this test, and not by it.
WHEEL_IS_BUILT = '#!/bin/sh\nls "$(dirname "$0")"/../dist/xlaprof-*.whl\n'


class Reader:
    """Somebody who types what a page says, in a folder and a virtual environment."""

    def __init__(self, folder, torch_python):
        self.folder = folder
        python = torch_python or "/usr/bin/python3"
        subprocess.run([python, "-m", "venv", folder / ".venv"], check=True)
        self.python = folder / ".venv/bin/python"
        if torch_python:  # torch takes 7 GB, so it is not installed again
            [packages] = (folder / ".venv/lib").glob("python3*/site-packages")
            [with_torch] = (pathlib.Path(torch_python).parent.parent / "lib").glob("python3*/site-packages")
            (packages / "torch.pth").write_text(f"{with_torch}\n")
        (folder / ".pins").write_text("\n".join(PINS))
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("XLAPROF", "PYTHON"))}
        self.environment = {**kept, "PATH": f"{folder}/.venv/bin:/usr/bin:/bin", "PIP_CONSTRAINT": str(folder / ".pins"), "LC_ALL": "C.UTF-8",
                            "PIP_DISABLE_PIP_VERSION_CHECK": "1", "JAX_PLATFORMS": "cpu"}

    def start(self, command):
        return subprocess.Popen(command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, encoding="utf-8")

    def run(self, *command, status=0):
        """Runs a command, which must end with this status, and returns what it prints."""
        process = self.start(command)
        printed, _ = process.communicate(timeout=900)
        if process.returncode != status:
            raise AssertionError(f"{command[-1].strip()}: its status is {process.returncode}\n{printed[-6000:]}")
        return printed

    def shell(self, text):
        return self.run("bash", "-euo", "pipefail", "-c", text)

    def serve(self, text):
        """Runs a command that serves a page, reads the page, and interrupts the command."""
        process = self.start(["bash", "-euo", "pipefail", "-c", f"exec {text.strip()}"])
        try:
            line = process.stdout.readline()
            address = re.search(r"http://\S+", line)
            if not address:
                raise AssertionError(f"{text.strip()} printed no address: {line}{process.stdout.read()}")
            with urllib.request.urlopen(address[0], timeout=60) as page:
                if b"<html" not in page.read().lower():
                    raise AssertionError(f"{address[0]} is no page")
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)

    def do(self, block):
        """Runs a block. Raises AssertionError if a command fails or prints something else."""
        file = block.directives.get("file") or block.directives.get("edit")
        if block.language == "diff":
            path = self.folder / file
            path.write_text(block.edited(path.read_text(encoding="utf-8")), encoding="utf-8")
        elif file:
            (self.folder / file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            self.run(str(self.python), "-c", (TRAINING if block.page == "README.md" else "") + block.text)
        elif "serves" in block.directives:
            self.serve(block.text)
        elif block.language == "shell":
            self.shell(block.text)
        elif block.language == "console":
            for command, expected in block.commands():
                printed = self.shell(command).replace(f"{self.folder}/", FOLDER_ON_PAGES)
                missing = difference(expected, printed, "numbers vary" in block.directives)
                if missing is not None:
                    raise AssertionError(f"{command}: it does not print\n{missing}\nIt prints\n{printed}")


def check_regression_test(reader, blocks):
    """Checks that the tutorial's test of the fix fails for the script before the fix."""
    [first] = [block for block in blocks if block.directives.get("file") == "train.py"]
    (reader.folder / "train.py").write_text(first.text, encoding="utf-8")
    printed = reader.run(str(reader.python), "-m", "pytest", "-q", "test_train.py", status=1)
    if "AssertionError: `train_step` recompiled" not in printed:
        raise AssertionError(printed[-2000:])


def main():
    torch_python, recorded_program = sys.argv[1:3]
    wheels = sorted((ROOT / "dist").glob("xlaprof-*_x86_64.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        raise SystemExit("blocks_test.py: dist/ has no wheel for x86_64; run scripts/wheel")
    wheel = wheels[-1]
    print(f"the wheel is {wheel.name}, made at {time.ctime(wheel.stat().st_mtime)}")
    done = failed = 0
    for page in sys.argv[3:] or RUN:
        blocks = blocks_of(page)
        with tempfile.TemporaryDirectory(prefix="xlaprof-docs-") as folder:
            folder = pathlib.Path(folder).resolve()
            reader = Reader(folder, torch_python if page == "README.md" else None)
            (folder / "dist").mkdir()
            (folder / "dist" / wheel.name).symlink_to(wheel)
            if page == "README.md":
                (folder / "tests").symlink_to(ROOT / "tests")
                (folder / "train").symlink_to(pathlib.Path(recorded_program).resolve())
                (folder / "scripts").mkdir()
                (folder / "scripts/wheel").write_text(WHEEL_IS_BUILT)
                (folder / "scripts/wheel").chmod(0o755)
                for name, text in README_FILES.items():
                    (folder / name).write_text(text)
            for block in blocks:
                if block.language == "text" and not block.directives:
                    continue
                if "needs" in block.directives:
                    print(f"{block.place}: not run, because it needs {block.directives['needs']}")
                    continue
                try:
                    reader.do(block)
                    print(f"{block.place}: {block.language}: as the page says", flush=True)
                except (AssertionError, OSError, ValueError, subprocess.TimeoutExpired) as error:
                    failed += 1
                    print(f"{block.place}: {error}", flush=True)
                done += 1
            if page == "docs/tutorial.md":
                try:
                    check_regression_test(reader, blocks)
                    print(f"{page}: the test fails for the script before the fixes, as it should", flush=True)
                except AssertionError as error:
                    failed += 1
                    print(f"{page}: the test of the fix does not fail for the script before it: {error}", flush=True)
    print(f"{failed} of {done} blocks differ")
    return failed > 0 or done == 0


if __name__ == "__main__":
    sys.exit(main())
