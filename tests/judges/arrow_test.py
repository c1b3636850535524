"""arrow_test.py BUILD checks that pandas, polars, pyarrow and DuckDB take results of the Python package, with the right values and
without copies, and that mypy accepts programs that use the package's types and rejects those that misuse them.

The Python of `scripts/env arrow` runs it."""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(BUILD / "python"))

import duckdb  # noqa: E402
import pandas  # noqa: E402
import polars  # noqa: E402
import pyarrow  # noqa: E402

import xlaprof  # noqa: E402

SQL = """SELECT id AS a, id * 1.5 AS b, CASE WHEN id % 3 THEN 'name ' || id ELSE NULL END AS c, CAST('é' || id AS BLOB) AS d, NULL AS e,
         CASE WHEN id % 2 THEN id END AS f FROM {}"""
RIGHT = """import xlaprof
with xlaprof.profile("runs") as recording:
    with xlaprof.step(1), xlaprof.trace("a", layer=1) as scope:
        scope.add(loss=0.5)
run = xlaprof.open("runs")
names: list[str] = [finding.kind for finding in run.findings]
row: tuple[object, ...] = run.sql("SELECT 1")[0]

@xlaprof.trace("f")
def f(n: int) -> str:
    return str(n)

text: str = f(1)

try:
    with xlaprof.no_recompiles(after=2) as steps:
        for number in steps([1, 2, 3]):
            text = f(number)
except xlaprof.Recompiled as error:
    names = [finding.kind for finding in error.findings] + [compile.function for compile in error.compiles]
"""
WRONG = ['xlaprof.no_recompiles("a")', 'xlaprof.trace(7)', 'xlaprof.step("a")', 'xlaprof.counter("a")', 'xlaprof.open("a").sql(7)', 'n: int = f(1)']


def expect(what, got, wanted):
    if got != wanted:
        raise SystemExit(f"arrow_test: {what}: {got!r} instead of {wanted!r}")


def check_values(run):
    result = table = run.sql(SQL.format("step"))
    rows = [tuple(row) for row in table]
    expect("rows", len(rows) > 30, True)
    arrow = pyarrow.table(table)
    expect("pyarrow's types", [str(field.type) for field in arrow.schema], ["int64", "double", "large_string", "large_binary", "null", "int64"])
    expect("pyarrow's rows", list(zip(*(column.to_pylist() for column in arrow.columns))), rows)
    arrow.validate(full=True)
    expect("pyarrow's record batch", pyarrow.record_batch(table).num_rows, len(rows))
    expect("polars' rows", polars.DataFrame(table).rows(), rows)
    expect("DuckDB's rows", duckdb.sql("SELECT * FROM result").fetchall(), rows)
    frame = table.to_pandas()
    expect("pandas' integers", frame["a"].tolist(), [row[0] for row in rows])
    expect("pandas' texts", [None if value is None or value != value else value for value in frame["c"].tolist()], [row[2] for row in rows])
    for name in ("to_arrow", "to_polars", "to_pandas"):
        expect(name, len(getattr(table, name)()), len(rows))
    empty = run.sql("SELECT id, name, dur_ns FROM step WHERE 0")
    expect("no rows", (pyarrow.table(empty).num_rows, polars.DataFrame(empty).height, duckdb.sql("FROM empty").fetchall(), len(empty.to_pandas())),
           (0, 0, [], 0))


def check_copies(run):
    """Checks that two readers of one result use the same memory."""
    table = run.sql(SQL.format("step"))
    first, second = pyarrow.table(table), pyarrow.table(table)
    for name in "abcd":
        buffers = [[buffer.address for buffer in arrow[name].chunk(0).buffers() if buffer is not None] for arrow in (first, second)]
        expect(f"addresses of column {name}", buffers[0], buffers[1])
    values = polars.DataFrame(table)["a"].to_numpy(allow_copy=False)
    expect("polars' address", values.__array_interface__["data"][0], first["a"].chunk(0).buffers()[1].address)
    numbers = first["a"].chunk(0).to_numpy(zero_copy_only=True)
    del table, second
    run.sql("SELECT 1")
    expect("values after the result is gone", numbers.tolist(), first["a"].to_pylist())


def check_types(folder):
    def mypy(text):
        (folder / "program.py").write_text(text)
        return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", folder / "cache", folder / "program.py"], text=True,
                              capture_output=True, env={"MYPYPATH": str(BUILD / "python")})

    done = mypy(RIGHT)
    expect("mypy on a right program", done.returncode, 0) if done.returncode == 0 else expect("mypy", done.stdout, "")
    for line in WRONG:
        expect(f"mypy on {line}", mypy(RIGHT + line + "\n").returncode, 1)


with xlaprof.open(ROOT / "tests/golden/captures/recompile_equal_weights") as run, tempfile.TemporaryDirectory() as folder:
    check_values(run)
    check_copies(run)
    check_types(pathlib.Path(folder))
print(f"pandas {pandas.__version__}, polars {polars.__version__}, pyarrow {pyarrow.__version__} and DuckDB {duckdb.__version__} agree")
