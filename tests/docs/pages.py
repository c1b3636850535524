"""The pages of the documentation, and the blocks of code in README.md and the tutorial.

The word after a block's fence says what the block is:

  shell     commands, which are run
  console   commands after `$ `, which are run, each followed by what it prints; `…` stands for text that is left out
  python    Python, which is run, or which the directive `file` makes a file
  diff      an edit of the file that the directive `edit` names
  text      neither commands nor Python: a summary of commands, or output that is explained and not compared

A directive is a comment in the lines before a block, which no rendering shows, such as <!-- file: train.py -->:

  file: NAME       the block is the contents of this file
  edit: NAME       in this file, the lines of the block without those after `+` become its lines without those after `-`; a line that
                   begins with @@ divides edits at several places
  numbers vary     what the commands print has other numbers, units and bars in each run
  serves           the command of the block serves a page until it is interrupted
  needs: WHAT      the block is not run, because it needs this, which a machine for tests lacks
"""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# The pages of which each block is run.
RUN = ("README.md", "docs/tutorial.md")
LANGUAGES = ("shell", "console", "python", "diff", "text")
DIRECTIVES = {"file": ("python", "text"), "edit": ("diff",), "numbers vary": ("console",), "serves": ("shell",), "needs": ("shell", "console", "python")}


class Block:
    """A block of code with its place. `directives` maps the names of its directives to what they name, or to ""."""

    def __init__(self, page, line, language, text, directives):
        self.page, self.line, self.language, self.text, self.directives = page, line, language, text, directives

    @property
    def place(self):
        return f"{self.page}:{self.line}"

    def problems(self):
        """Returns sentences about what is wrong with the classification of the block."""
        if self.language not in LANGUAGES:
            return [f"{self.place}: the block is not classified. The word after its fence is {self.language!r}, not one of {', '.join(LANGUAGES)}"]
        found = [f"{self.place}: a block of {self.language} has no directive {name!r}" for name in self.directives
                 if self.language not in DIRECTIVES.get(name, ())]
        if self.language == "diff" and "edit" not in self.directives:
            found.append(f"{self.place}: the directive `edit` is missing, which names the file that this block changes")
        return found

    def commands(self):
        """Returns the commands of a block of console, each with what it prints."""
        commands = []
        for line in self.text.splitlines():
            if line.startswith("$ "):
                commands.append((line[2:], []))
            elif not commands:
                raise ValueError(f"a block of console begins with `$ ` and a command")
            else:
                commands[-1][1].append(line)
        return [(command, "\n".join(lines)) for command, lines in commands]

    def edited(self, text):
        """Returns the text of a file after the edit that this block of diff describes."""
        for part in filter(None, re.split(r"(?m)^@@.*\n", self.text)):
            lines = part.splitlines(keepends=True)
            before = "".join(line[1:] or "\n" for line in lines if line[:1] != "+")
            after = "".join(line[1:] or "\n" for line in lines if line[:1] != "-")
            if text.count(before) != 1:
                raise ValueError(f"the lines before the edit are {text.count(before)} times in {self.directives['edit']}, not once")
            text = text.replace(before, after)
        return text


def blocks_of(page):
    """Returns the blocks of a page, which is named by its path in the repository."""
    blocks, directives, block = [], {}, None
    for number, line in enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), 1):
        fence = re.match(r" {0,3}(```+|~~~+)(.*)", line)
        if block is not None:
            if fence and fence[1] == block[0] and not fence[2].strip():
                blocks.append(Block(page, block[1], block[2], "".join(text + "\n" for text in block[3]), directives))
                block, directives = None, {}
            else:
                block[3].append(line)
        elif fence:
            block = (fence[1], number, fence[2].strip(), [])
        elif comment := re.fullmatch(r"<!-- (.+?) -->", line):
            name, _, value = comment[1].partition(": ")
            directives[name] = value
        elif line.strip():
            directives = {}
    if block is not None:
        raise ValueError(f"{page}:{block[1]}: the block does not end")
    return blocks


def all_pages():
    """Returns the pages of the documentation by their paths in the repository."""
    docs = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
    return ["README.md", "CHANGELOG.md", "bench/README.md", *docs]


def words(text):
    """Returns a text without its line breaks."""
    return " ".join(text.split())


def form(text):
    """Returns a text without line breaks and bars, in which each number with its unit is `#`, unless it belongs to a name, a line or a shape."""
    text = re.sub("[█▏▎▍▌▋▊▉]+", "", text)
    return re.sub(r"(?<![\w:\[,.-])\d[\d.,]*( ?(ns|us|ms|s|min|h|KB|MB|GB|%)(?!\w))?", "#", words(text))


def difference(expected, printed, numbers_vary):
    """Returns the part of the expected text that was not printed, or None. `…` stands for any text."""
    shape = form if numbers_vary else words
    printed, at = shape(printed), 0
    for part in map(shape, expected.split("…")):
        found = printed.find(part, at)
        if found < 0:
            return part
        at = found + len(part)
    return None
