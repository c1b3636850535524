"""What MkDocs and mkdocstrings need to make a site of this folder, beyond mkdocs.yml, which names this file.

MkDocs calls the functions on_…; griffe, which reads python/xlaprof for mkdocstrings, calls the methods of Docstrings."""
import ast
import logging
import pathlib
import posixpath
import re

import griffe
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Pages of the site that lie outside of docs/.
OUTSIDE = {"index.md": "README.md", "bench.md": "bench/README.md"}
LOG = logging.getLogger("mkdocs.plugins.site")  # a warning fails mkdocs build --strict
DECISIONS = "The important design decisions, with the context in which each was made, and its cost.\n\n"


def on_config(config):
    """Replaces FOLDER/* in the navigation by the pages of the folder that it does not list."""
    config.nav = _expanded(config.nav)
    return config


def _expanded(nav):
    pages = []
    for entry in nav:
        if isinstance(entry, dict):
            [(title, value)] = entry.items()
            pages.append({title: _expanded(value) if isinstance(value, list) else value})
        elif entry.endswith("/*"):
            folder = entry[:-2]
            pages += sorted(f"{folder}/{page.name}" for page in (ROOT / "docs" / folder).glob("*.md") if page.name != "README.md")
        else:
            pages.append(entry)
    return pages


def on_files(files, config):
    """Adds the pages that lie elsewhere, and a list of the decisions."""
    for name, source in OUTSIDE.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / source)))
    decisions = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
    lines = [f"- [{page.name[:4]}]({page.name}): {page.read_text(encoding='utf-8').partition(chr(10))[0].lstrip('# ')}\n" for page in decisions]
    files.append(File.generated(config, "decisions/index.md", content="# Decisions\n\n" + DECISIONS + "".join(lines)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Turns links between files of the repository into links between pages of the site."""
    here = page.file.src_uri
    source = OUTSIDE.get(here, f"docs/{here}")
    pages = {file: name for name, file in OUTSIDE.items()}
    folder = posixpath.dirname

    def link(found):
        target, hash, anchor = found[1].partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return found[0]
        path = posixpath.normpath(posixpath.join(folder(source), target))
        name = pages.get(path) or path.removeprefix("docs/") + ("/index.md" if (ROOT / path).is_dir() else "")
        if files.get_file_from_path(name) is None:
            return found[0]  # MkDocs warns of it
        return f"]({posixpath.relpath(name, folder(here) or '.')}{hash}{anchor})"

    return re.sub(r"\]\(([^()\s]+)\)", link, markdown)


class Docstrings(griffe.Extension):
    """Gives the objects of the type stubs their docstrings, from the modules that define them and from the extension's sources.

    The stubs of xlaprof declare all of its members, which are defined in modules of other names, such as xlaprof._run."""

    def on_package(self, *, pkg, **kwargs):
        defined = {}
        for name, module in pkg.modules.items():
            if name.startswith("_"):
                defined.update((path, member) for member in module.members.values() for path, member in _named(member))
        texts = _extension_texts()
        for member in list(pkg.members.values()) + list(pkg.modules.get("_xlaprof", pkg).members.values()):
            for path, stub in _named(member):
                if not stub.docstring:
                    text = texts.get(path) or getattr(getattr(defined.get(path), "docstring", None), "value", None)
                    stub.docstring = griffe.Docstring(text, parent=stub) if text else None
                if not stub.docstring and not stub.name.startswith("_") and (stub.is_class or stub.is_function):
                    LOG.warning("%s has no docstring", stub.path)

    def on_object(self, *, obj, **kwargs):
        if obj.docstring:
            obj.docstring.value = _fenced(obj.docstring.value)


def _named(member, prefix=""):
    """Yields a member and the members of a class, each with its path in its module."""
    if member.is_alias or member.is_module:
        return
    yield prefix + member.name, member
    if member.is_class:
        for inner in member.members.values():
            yield from _named(inner, f"{prefix}{member.name}.")


def _extension_texts():
    """Returns the docstrings in the C++ sources of the extension: of its functions, and of its types with their members."""
    texts = {}
    literals = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
    function = r'\{"(\w+)", [^"{}]*METH_[^"{}]*,\s*' + literals + r"\}"
    attribute = r'const_cast<char\*>\("(\w+)"\), \w+, nullptr,\s*const_cast<char\*>\(' + literals
    of_type = r"Py_(tp_doc),\s*const_cast<char\*>\(\s*" + literals
    for source in sorted((ROOT / "python/extension").glob("*.cc")):
        code = source.read_text(encoding="utf-8")
        types = [(found.start(), found[1]) for found in re.finditer(r'"xlaprof\._xlaprof\.(\w+)"', code)]
        for pattern in (function, attribute, of_type):
            for found in re.finditer(pattern, code):
                text = "".join(map(ast.literal_eval, re.findall(r'"(?:[^"\\]|\\.)*"', found[2]))).rpartition("--\n\n")[2]
                owner = next((name for at, name in types if at > found.start()), None)
                texts[owner if found[1] == "tp_doc" else found[1]] = text
                texts[f"{owner}.{found[1]}"] = text
    return texts


def _fenced(text):
    """Returns a docstring as Markdown, in which examples are blocks of code."""
    return re.sub(r"(?m)^>>> (?:.+\n?)+", lambda block: f"```pycon\n{block[0].rstrip()}\n```\n", text)
