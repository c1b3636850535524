#!/usr/bin/python3
"""Reads the string literals of analyzers/ and finds those that are names of a framework, which only profiler/vocabulary/ and the importers know.

A literal is such a name if it is
  * an op of profiler/vocabulary/ops.txt, or has an op's namespace (aten::, xla::, prim::, stablehlo.),
  * a Python file or a folder of packages, or a pattern of profiler/vocabulary/code.txt,
  * a call of a GPU's runtime (cudaMalloc, hipFree, cuInit),
  * a text that an importer recognises, too: a message of a framework, or the name of an event.
A name that SQL compares, 'tuple', counts, too. Words of schema.sql are our own. analyzers/words/ may name what it explains.

vocabulary_test.txt beside this file lists the literals that are still there, each once per file. An entry that is not found any more fails
the test, so that the list only shrinks. `--update` removes such entries, and adds none.
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "tests" / "vocabulary_test.txt"
sys.path.insert(0, str(ROOT / "scripts"))
import vocabulary  # noqa: E402

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
NAMESPACE = re.compile(r"\b(aten|xla|prim|torchvision)::\w|\bstablehlo\.\w")
GPU_CALL = re.compile(r"^(cuda|hip|cu|ze)[A-Z]\w+$")
FILE = re.compile(r"\w\.py\b|(site|dist)-packages|/lib/python")


def own_words():
    """Returns the words of the vocabularies, tables and columns of schema.sql."""
    text = (ROOT / "profiler/store/schema.sql").read_text() + (ROOT / "base/category.h").read_text()
    return set(re.findall(r"^--   (\w+) ", text, re.M)) | set(re.findall(r"^  (\w+) ", text, re.M)) | set(re.findall(r"CREATE TABLE (\w+)", text)) | set(
        re.findall(r'"(\w+)"', text))


def literals(path):
    """Yields the literals of a C++ file, adjacent ones as one. Comments and includes have none."""
    lines = [re.sub(r"(^|\s)//.*", "", line) for line in path.read_text().splitlines() if not line.lstrip().startswith("#include")]
    text = re.sub(r'"\s*\n\s*"', "", "\n".join(lines))
    yield from LITERAL.findall(text)


def files(folder, *without):
    return [p for p in sorted((ROOT / folder).rglob("*")) if p.suffix in (".cc", ".h") and not any(p.is_relative_to(ROOT / w) for w in without)]


class Names:
    def __init__(self):
        ops, code, calls = vocabulary.Ops(), vocabulary.Code(), vocabulary.Calls()
        self.own = own_words()
        # A name that users also give to functions is a word.
        self.ops = {name for names in ops.sections.values() for name, (_, traits) in names.items() if "short" not in traits} - self.own
        self.files = {pattern for names in code.sections.values() for pattern in names if len(pattern) > 3}
        self.calls = {name for names in calls.sections.values() for name in names}
        # Words and SQL are no names, and the keys of attributes, arguments and of table meta are the store's own.
        self.messages = {text for path in files("profiler/import") for text in literals(path)
                         if len(text) > 6 and re.search(r"[A-Z(<:_]", text) and not re.match(r"[a-z_ ]+$|.*[{}]|(ORDER BY|WHERE|SELECT) ", text)}

    def why(self, literal):
        """Returns what kind of name the literal is, or None."""
        if literal in self.own:
            return None
        compared = re.findall(r"'([^']+)'", literal) if re.search(r"\b(SELECT|WHERE|FROM)\b", literal) else []
        for text in [literal, *compared]:
            if text in self.ops or NAMESPACE.search(text):
                return "an op"
            # A command names a program, and not a file that was recorded.
            if text in self.files or (FILE.search(text) and " python " not in f" {text}"):
                return "a file"
            if text in self.calls or GPU_CALL.match(text):
                return "a call"
            if text in self.messages - self.own:
                return "a text that an importer knows"
        return None


def found(names):
    """Returns {(file, literal): kind}."""
    return {(path.relative_to(ROOT).as_posix(), literal): kind for path in files("analyzers", "analyzers/words") for literal in literals(path)
            if (kind := names.why(literal))}


def test_rules(names):
    """The rules find what they are for."""
    for literal in ("aten::mm", "get-tuple-element", "SELECT x FROM y WHERE op = 'custom-call'", "adam.py", "/site-packages/", "cudaMalloc"):
        assert names.why(literal), literal
    sys.path.insert(0, str(ROOT / "profiler/launch/hook"))
    from xlaprof_hook import code
    packages = code.folders()[1][0]
    for file, owner in (("/home/ada/train.py", "user"), (f"{packages}/torch/optim/adam.py", "optimizer"), (f"{packages}/mine.py", "library"),
                        ("/x/site-packages/jax/_src/api.py", "jax"), (json.__file__, "python"),
                        ("/src/torch/nn/modules/module.py", "torch"), ("/home/ada/torch/train.py", "user"), ("<stdin>", "user"), ("<string>", "python")):
        assert code.of(file)[0] == owner, (file, code.of(file))
    for literal in ("the device idles", "compile", "SELECT id FROM graph", "direction"):
        assert names.why(literal) is None, literal


def main():
    names = Names()
    test_rules(names)
    listed = [tuple(line.split("\t")) for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    present = found(names)
    stale = [entry for entry in listed if entry not in present]
    if "--update" in sys.argv and stale:
        kept = [line for line in LIST.read_text().splitlines() if tuple(line.split("\t")) not in stale]
        LIST.write_text("\n".join(kept) + "\n")
        stale = []
    for file, literal in sorted(set(present) - set(listed)):
        print(f'{file}: "{literal}" is {present[file, literal]}: profiler/vocabulary/ or an importer must know it')
    for file, literal in stale:
        print(f'{LIST.relative_to(ROOT)}: {file} has "{literal}" no more: remove the line (--update)')
    if stale or set(present) - set(listed):
        return 1
    print(f"vocabulary: {len(listed)} names are left in analyzers/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
