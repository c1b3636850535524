"""Reads runs."""
import functools
import html
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
import weakref

from xlaprof import _program, _xlaprof
from xlaprof._findings import Evidence, Finding, Findings
from xlaprof._program import Error
from xlaprof._table import Table

_MOST_INLINE_BYTES = 50_000_000


def open(*paths, run=None):
    """Reads a run from a store, from a directory of a run's files, or from several files.

    `run` chooses a run by its label if the files hold several; otherwise it is the newest. The files are read and
    analysed now, into a temporary store, and are not changed. A store that holds findings is read in place. Raises
    Error if nothing can be read.

    >>> run = open("run.xlaprof")
    >>> print(run.findings[0].kind, run.findings[0].place)
    recompilation train.py:24
    >>> run.sql("SELECT count(*) AS compiles FROM compile")
    compiles
    4
    (1 row)
    """
    if not paths:
        raise TypeError("open() needs a path")
    return Run(paths, run)


class Report:
    """What `xlaprof report` says. print() shows it as text, and a notebook as Markdown."""

    def __init__(self, store, facts):
        self._store = store
        self.json = facts

    @functools.cached_property
    def text(self):
        """The report as text."""
        return _program.run("report", self._store, "--colour", "never")

    @functools.cached_property
    def markdown(self):
        """The report as Markdown."""
        return _program.run("report", self._store, "--format", "markdown")

    @property
    def summary(self):
        """Where the time of a step goes, as a dictionary. Values that no source knows are None."""
        return self.json["summary"]

    @property
    def findings(self):
        """The findings, the most important first."""
        return Findings(Finding.from_json(finding) for finding in self.json["findings"])

    def __str__(self):
        return self.text

    __repr__ = __str__

    def _repr_markdown_(self):
        return self.markdown


class View:
    """The viewer of a run. A notebook shows it in place."""

    def __init__(self, store, height):
        self._store = store
        self._height = height
        self._server = None
        self.address = None

    def html(self):
        """Returns the viewer and the run's data as one page."""
        with tempfile.TemporaryDirectory(prefix="xlaprof-") as folder:
            path = os.path.join(folder, "run.html")
            _program.run("export", self._store, "--format", "html", "-o", path)
            with io.open(path, encoding="utf-8") as file:
                return file.read()

    def serve(self):
        """Starts the viewer's server, which opens a browser. It ends with stop(), or with this process."""
        if self._server is None:
            self._server = subprocess.Popen([_program.find_program(), "view", self._store], env=_program.environment(), text=True,
                                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            said = []
            for line in self._server.stdout:
                said.append(line)
                if found := re.search(r"https?://\S+", line):
                    self.address = found[0]
                    break
            else:
                self._server = None
                raise Error("".join(said).strip() or "the viewer's server ended at once")
        return self

    def stop(self):
        """Ends the server."""
        if self._server is not None:
            self._server.terminate()
            self._server.wait()
            self._server.stdout.close()
            self._server = self.address = None

    def __del__(self):
        self.stop()

    def __repr__(self):
        return f"<xlaprof viewer{'' if self.address is None else ' at ' + self.address}>"

    def _repr_html_(self):
        page = self.html()
        if len(page) > _MOST_INLINE_BYTES:
            return f"<p>This run's viewer has {len(page) / 1e6:.0f} MB, too many for a notebook. Run: xlaprof view PATH</p>"
        return (f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts allow-downloads" '
                f'style="width:100%;height:{self._height}px;border:1px solid #ccc"></iframe>')





class Run:
    """A run that was read. xlaprof.open returns it.

    `findings`, `steps` and `compiles` hold what most questions are about, report() what `xlaprof report` prints, and
    sql() answers the rest. Close it, or use it in `with`, to delete its temporary file early.
    """

    def __init__(self, paths, run=None):
        self.paths = tuple(os.fspath(path) for path in paths)
        self._folder = None
        if len(self.paths) == 1 and run is None and _is_analysed(self.paths[0]):
            self._path = self.paths[0]
            return
        self._folder = tempfile.mkdtemp(prefix="xlaprof-")
        self._delete = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._path = os.path.join(self._folder, "run.xlaprof")
        _program.run("import", *self.paths, "-o", self._path, *(["--run", run] if run is not None else []))

    @functools.cached_property
    def _report(self):
        return Report(self._path, json.loads(_program.run("report", self._path, "--format", "json")))

    @functools.cached_property
    def _store(self):
        store = _xlaprof.Store(self._path)
        views = json.loads(_program.run("query", self._path, "SELECT sql FROM sqlite_temp_schema WHERE type = 'view'", "--format", "json"))
        store.sql(";\n".join("CREATE TEMP" + view["sql"][len("CREATE"):] for view in views))
        return store

    def report(self):
        """Returns what `xlaprof report` says: where the time of a step goes, and the findings."""
        return self._report

    @property
    def findings(self):
        """The findings, the most important first."""
        return self._report.findings

    @property
    def summary(self):
        """Where the time of a step goes, as a dictionary. Values that no source knows are None."""
        return self._report.summary

    @property
    def steps(self):
        """The steps, with what compiled, ran and was copied in each."""
        return self.sql("SELECT * FROM steps")

    @property
    def compiles(self):
        """The compilations, each with its step and its line."""
        return self.sql("SELECT * FROM compiles")

    def sql(self, text):
        """Runs SQL on the run, and returns the last statement's result.

        Tables are those of docs/schema.md and event, arg, flow and counter_sample. Views are slice, steps, compiles,
        compiles_by_site, findings and others. Temporary tables may be made.
        """
        try:
            columns, damage = self._store.sql(text)
        except ValueError as error:
            raise Error(str(error)) from None
        if damage:
            warnings.warn(damage, stacklevel=2)
        return Table(columns)

    def view(self, height=640):
        """Shows the findings and the timeline: in place in a notebook, and else in a browser."""
        view = View(self._path, height)
        view._run = self  # whose file the view reads
        return view if _is_notebook() else view.serve()

    def export(self, path, format):
        """Writes the run to `path` as `chrome`, `perfetto`, `xspace`, `sqlite` or `html`."""
        _program.run("export", self._path, "--format", format, "-o", path)

    def save(self, path):
        """Writes the run with its findings to a store, which must not exist."""
        with io.open(self._path, "rb") as store, io.open(path, "xb") as copy:
            shutil.copyfileobj(store, copy)

    def close(self):
        """Deletes the temporary file."""
        self.__dict__.pop("_store", None)
        if self._folder is not None:
            self._delete()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __repr__(self):
        return f"xlaprof.open({', '.join(map(repr, self.paths))})"

    def _repr_html_(self):
        return self.findings._repr_html_() + View(self._path, 640)._repr_html_()


def _is_analysed(path):
    """Returns whether a file is a store that holds findings, which needs no import."""
    try:
        with io.open(path, "rb") as file:
            if file.read(16) != b"SQLite format 3\0":
                return False
        findings, _ = _xlaprof.Store(path).sql("SELECT count(*) FROM finding")
    except (OSError, ValueError):
        return False  # the import says what is wrong
    return findings[0][0] > 0


def _is_notebook():
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


__all__ = ["Error", "Evidence", "Finding", "Findings", "Report", "Run", "Table", "View", "open"]
