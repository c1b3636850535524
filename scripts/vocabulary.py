"""Generates the lookups of profiler/vocabulary/ from its tables. scripts/schema calls this, and tests read the tables by it."""
import pathlib
import shlex

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "profiler" / "vocabulary"


class Bad(Exception):
    """A table does not follow its rules. The message names the file and the line."""


class Table:
    """A file of the vocabulary: its kinds and traits by name, and the names of each section as {name: (kind, traits)} in their order."""

    file = kind = None
    section = "section"

    def __init__(self):
        self.kinds, self.traits, self.sections, names = {}, {}, {}, None
        for number, line in enumerate((FOLDER / self.file).read_text(encoding="utf-8").splitlines(), 1):
            where = f"{self.file}:{number}"
            head, _, tail = line.partition(": ")
            head = head.removesuffix(":").split()
            if not head or head[0].startswith("#"):
                continue
            if head[0] in (self.kind, "trait"):
                (self.kinds if head[0] == self.kind else self.traits)[head[1]] = tail.strip()
            elif head[0] == self.section:
                names = self.sections.setdefault(head[1], {})
            elif not self.other(head, tail.split()):
                self.add(where, names, head, shlex.split(tail) or [""])

    def other(self, head, words):
        """Takes a line of another kind, and returns whether it is one."""
        return False

    def add(self, where, names, head, words):
        if names is None or head[0] not in self.kinds:
            raise Bad(f"{where}: {head[0]} is no {self.kind}, or has no {self.section} above it")
        for trait in head[1:]:
            if trait not in self.traits:
                raise Bad(f"{where}: unknown trait {trait}")
        for word in words:
            if word in names:
                raise Bad(f"{where}: {word} is listed twice")
            names[word] = (head[0], head[1:])

    def enums(self, enum, trait):
        out = [self.head() + "#include <cstdint>\n\nnamespace xlaprof {\n"]
        if enum:
            out += [f"// What each {self.kind} means.\nenum class {enum} : uint8_t {{", "  kUnknown,"]
            out += [f"  k{camel(name)},  // {meaning}" for name, meaning in self.kinds.items()] + ["};\n"]
        out += [f"// What else is known. Each trait is one bit.\nenum class {trait} : uint32_t {{"]
        out += [f"  k{camel(name)} = 1u << {bit},  // {meaning}" for bit, (name, meaning) in enumerate(self.traits.items())]
        return "\n".join(out + ["};\n", "}  // namespace xlaprof", ""])

    def arrays(self, header, entry, enum, in_order=()):
        """Returns the arrays of entries, sorted by name except for the sections `in_order`."""
        bits = {name: 1 << bit for bit, name in enumerate(self.traits)}
        out = [f'{self.head()}#include "profiler/vocabulary/{header}"\n\nnamespace xlaprof {{\n']
        for section, names in self.sections.items():
            order = names if section in in_order else sorted(names, key=str.encode)
            out.append(f"inline constexpr {entry} k{camel(section)}{entry}s[] = {{")
            for name in order:
                kind, traits = names[name]
                out.append(f"    {{{quoted(name)}, {enum}::k{camel(kind)}, {sum(bits[trait] for trait in traits)}u}},")
            out.append("};\n")
        return "\n".join(out + self.more() + ["}  // namespace xlaprof", ""])

    def head(self):
        return f"// Written by scripts/schema from profiler/vocabulary/{self.file}: edit that.\n#pragma once\n\n"

    def more(self):
        return []


class Ops(Table):
    file, kind, section = "ops.txt", "kind", "dialect"

    def __init__(self):
        self.called, self.reading, self.inputs = [], [], []
        super().__init__()

    def other(self, head, words):
        if head[0] == "called":
            self.called += [(head[1], word) for word in words]
        elif head[0] == "reading":
            self.reading = words
        elif head[0] == "inputs":
            self.inputs = words
        return head[0] in ("called", "reading", "inputs")

    def more(self):
        return ["inline constexpr CallerOfOp kCallersOfOps[] = {", *(f"    {{{quoted(op)}, {quoted(function)}}}," for op, function in self.called), "};",
                *(f"inline constexpr std::string_view {name}[] = {{{', '.join(map(quoted, words))}}};\n"
                  for name, words in (("kReadingFunctions", self.reading), ("kInputNames", self.inputs)))]

    def headers(self):
        return [("op_kinds.h", self.enums("OpKind", "OpTrait")), ("op_tables.h", self.arrays("ops.h", "Op", "OpKind"))]


class Code(Table):
    file, kind = "code.txt", "owner"

    def headers(self):
        in_order = [section for section in self.sections if section != "name"]
        return [("code_traits.h", self.enums(None, "CodeTrait")), ("code_tables.h", self.arrays("code.h", "CodePattern", "CodeOwner", in_order))]


class Calls(Table):
    file, kind = "calls.txt", "activity"

    def headers(self):
        return [("call_kinds.h", self.enums("CallKind", "CallTrait")), ("call_tables.h", self.arrays("calls.h", "Call", "CallKind", ("begins", "part")))]


def camel(name):
    return "".join(part.capitalize() for part in name.split("_"))


def quoted(value):
    return '"%s"' % value.replace("\\", "\\\\").replace('"', '\\"')


def headers():
    """Returns the generated headers as (name, text)."""
    return Ops().headers() + Code().headers() + Calls().headers()
