"""Results of SQL."""
import html

_SHOWN = 20


class Table:
    """A result of SQL: a sequence of rows, which are tuples.

    It has Arrow's PyCapsule interface, so other libraries take it without a copy: ``pyarrow.table(steps)``,
    ``polars.DataFrame(steps)``, ``duckdb.sql("FROM steps")``, ``pandas.DataFrame.from_arrow(steps)``.

    >>> table = open("run.xlaprof").sql("SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, NULL")
    >>> table
    a  b
    1  x
    2
    (2 rows)
    >>> table.columns
    ('a', 'b')
    >>> list(table)
    [(1, 'x'), (2, None)]
    >>> table["a"]
    [1, 2]
    >>> table.dicts()
    [{'a': 1, 'b': 'x'}, {'a': 2, 'b': None}]
    """

    __slots__ = ("_columns",)

    def __init__(self, columns):
        self._columns = columns

    @property
    def columns(self):
        """The names of the columns."""
        return self._columns.names

    def __len__(self):
        return len(self._columns)

    def __iter__(self):
        return (self._columns[row] for row in range(len(self._columns)))

    def __getitem__(self, which):
        """Returns a row by its number, rows by a slice, or a column's values by its name."""
        if isinstance(which, str):
            column = self.columns.index(which)
            return [row[column] for row in self]
        if isinstance(which, slice):
            return [self._columns[row] for row in range(*which.indices(len(self)))]
        return self._columns[which]

    def dicts(self):
        """Returns the rows as a list of dictionaries."""
        return [dict(zip(self.columns, row)) for row in self]

    def __arrow_c_schema__(self):
        return self._columns.__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema=None):
        return self._columns.__arrow_c_array__()

    def __arrow_c_stream__(self, requested_schema=None):
        return self._columns.__arrow_c_stream__()

    def to_arrow(self):
        """Returns a pyarrow.Table."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self):
        """Returns a polars.DataFrame."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self):
        """Returns a pandas.DataFrame. pandas before 3 needs pyarrow to take it over without a copy."""
        import pandas

        if hasattr(pandas.DataFrame, "from_arrow"):
            return pandas.DataFrame.from_arrow(self)
        try:
            import pyarrow
        except ImportError:
            return pandas.DataFrame(list(self), columns=list(self.columns))
        return pyarrow.table(self).to_pandas()

    def _text_rows(self):
        return [["" if value is None else _text(value) for value in row] for row in self[:_SHOWN]]

    def _note(self):
        rest = f", {len(self) - _SHOWN} of them not shown" if len(self) > _SHOWN else ""
        return f"({len(self)} row{'' if len(self) == 1 else 's'}{rest})"

    def __repr__(self):
        rows = [list(self.columns), *self._text_rows()]
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in rows]
        return "\n".join([*lines, self._note()])

    def _repr_html_(self):
        def row(cells, tag):
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        body = "".join(row(cells, "td") for cells in self._text_rows())
        return f"<table><thead>{row(self.columns, 'th')}</thead><tbody>{body}</tbody></table><p>{self._note()}</p>"


def _text(value):
    text = value.hex() if isinstance(value, bytes) else f"{value:g}" if isinstance(value, float) else str(value)
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return text if len(text) <= 60 else text[:59] + "…"
