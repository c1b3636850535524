#!/usr/bin/python3
"""docs_test.py XLAPROF checks what the documentation says, as far as it can be checked in a second without a network: each block of README.md
and of the tutorial is classified (pages.py says how), Python is Python, also before and after each edit that a page shows, each command and
option of xlaprof exists, each script exists, reports on captures of this repository are as they are shown, and each link leads to a file and
a heading. blocks_test.py runs the blocks."""
import ast
import functools
import pathlib
import re
import shlex
import subprocess
import sys

from pages import ROOT, RUN, all_pages, blocks_of, difference

MOST_LINES_OF_README = 150


def is_python(text):
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def pythons_of(block):
    """Returns the Python of a block: its text, or for an edit of no file the text before the edit and the one after it."""
    if block.language == "diff" and "edit" not in block.directives:
        lines = block.text.splitlines()
        return ["\n".join(line[1:] for line in lines if line[:1] != left_out) for left_out in "+-"]
    return [block.text] if block.language == "python" else []


def check_blocks(page):
    """Yields what is wrong with the blocks of a page whose blocks are run."""
    files = {}
    for block in blocks_of(page):
        problems = block.problems()
        yield from problems
        if problems:
            continue
        try:
            if block.language == "console":
                block.commands()
            if block.language == "diff":
                name = block.directives["edit"]
                files[name] = block.edited(files.get(name, ""))
                ast.parse(files[name])
            if "file" in block.directives:
                files[block.directives["file"]] = block.text
        except (SyntaxError, ValueError) as error:
            yield f"{block.place}: {error}"


def code_of(page):
    """Yields the code of a page: the place and the text of each line of its blocks and of each span of code in its text."""
    is_block = False
    for number, line in enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), 1):
        if re.match(r" {0,3}(```|~~~)", line):
            is_block = not is_block
        elif is_block:
            yield f"{page}:{number}", line
        else:
            for span in re.findall(r"`([^`]+)`", line):
                yield f"{page}:{number}", span


@functools.lru_cache(maxsize=None)
def options_of(xlaprof, command):
    """Returns the options of a command of xlaprof, or of xlaprof itself for "", as its help names them. None: there is no such command."""
    done = subprocess.run([xlaprof, *([command] if command else []), "--help"], capture_output=True, text=True)
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", done.stdout)) if done.returncode == 0 else None


def check_commands(page, xlaprof, counted):
    """Yields the uses of commands and options that xlaprof does not have."""
    for place, line in code_of(page):
        for use in re.finditer(r"(?:^|\$ |[;|&(] ?)(?:[A-Z_]+=\S+ )*xlaprof (?=[a-z-])([^;|#&`]*(?:\|[a-z]+[^;|#&`]*)*)", line):
            words = use[1].partition(" -- ")[0].split()
            command = words[0] if re.fullmatch(r"[a-z]+", words[0]) else ""
            options = options_of(xlaprof, command)
            if options is None:
                yield f"{place}: xlaprof has no command {command!r}: {line.strip()}"
                continue
            used = {option.lstrip("[") for word in words for option in re.findall(r"^\[?--?[a-z][a-z-]*", word)}
            counted[0] += 1
            yield from (f"{place}: xlaprof {command} has no option {option}" for option in sorted(used - options))


def check_reports(page, xlaprof, counted):
    """Yields the reports on captures of this repository that a page shows and that xlaprof prints differently."""
    for block in blocks_of(page):
        if not block.text.startswith("$ xlaprof report tests/"):
            continue
        for command, expected in block.commands():
            counted[0] += 1
            done = subprocess.run([xlaprof, *shlex.split(command)[1:]], cwd=ROOT, capture_output=True, text=True)
            missing = difference(expected, done.stdout + done.stderr, False)
            if missing is not None:
                yield f"{block.place}: {command} does not print this: {missing}"


def check_scripts(page):
    """Yields the scripts that a page names and that do not exist."""
    for place, line in code_of(page):
        for script in re.findall(r"(?:^|[\s./])((?:scripts|bench)/[a-z][\w-]*)(?![\w./-])", line):
            if not (ROOT / script).exists():
                yield f"{place}: there is no {script}"


@functools.lru_cache(maxsize=None)
def anchors_of(path):
    """Returns the anchors of a page's headings, as GitHub and the site make them."""
    text = re.sub(r"(?ms)^```.*?^```$", "", path.read_text(encoding="utf-8"))
    titles = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title) for title in re.findall(r"(?m)^#+ (.+)$", text)]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def check_links(page, counted):
    """Yields the links of a page that lead nowhere."""
    text = re.sub(r"(?ms)^```.*?^```$", "", (ROOT / page).read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^()\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        counted[0] += 1
        file, _, anchor = target.partition("#")
        path = (ROOT / page).parent / file if file else ROOT / page
        if not path.exists():
            yield f"{page}: a link leads to {target}, which does not exist"
        elif anchor and anchor not in anchors_of(path):
            yield f"{page}: a link leads to {target}, and the page has no such heading"


def check_reference():
    """Yields the members of the Python package that its reference does not list."""
    module = ast.parse((ROOT / "python/xlaprof/__init__.py").read_text(encoding="utf-8"))
    [names] = [ast.literal_eval(node.value) for node in module.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"]
    listed = re.findall(r"(?m)^::: (\S+)$", (ROOT / "docs/api.md").read_text(encoding="utf-8"))
    yield from (f"docs/api.md: xlaprof.{name} is missing" for name in names if f"xlaprof.{name}" not in listed)


def main():
    xlaprof = pathlib.Path(sys.argv[1]).resolve()
    problems, links, commands, reports = [], [0], [0], [0]
    for page in RUN:
        problems += check_blocks(page)
    for page in all_pages():
        problems += [f"{block.place}: this is no Python" for block in blocks_of(page) if not all(map(is_python, pythons_of(block)))]
        problems += [*check_commands(page, xlaprof, commands), *check_scripts(page), *check_links(page, links),
                     *check_reports(page, xlaprof, reports)]
    problems += check_reference()
    lines = len((ROOT / "README.md").read_text(encoding="utf-8").splitlines())
    if lines > MOST_LINES_OF_README:
        problems.append(f"README.md has {lines} lines, and may have {MOST_LINES_OF_README}")
    print("\n".join(problems))
    blocks = sum(len(blocks_of(page)) for page in RUN)
    print(f"{blocks} blocks, {commands[0]} uses of xlaprof, {links[0]} links, {reports[0]} reports: {len(problems)} problems")
    return bool(problems) or not all((blocks, commands[0], links[0], reports[0]))


if __name__ == "__main__":
    sys.exit(main())
