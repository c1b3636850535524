"""Helpers for tests in Python: the bundled captures, and stores made from readable rows."""
import pathlib
import re
import sqlite3

ROOT = pathlib.Path(__file__).resolve().parent.parent
CAPTURES = ROOT / "tests/golden/captures"


def bundled_captures():
    """Returns the name and path of each: a directory, or a file if a directory holds several runs."""
    folders = sorted(path for path in CAPTURES.iterdir() if path.is_dir())
    single = [path for path in folders if path.name != "kineto"]
    return {path.name.split(".")[0]: path for path in single + sorted((CAPTURES / "kineto").iterdir())}


def store_of_sql(sql, store, extension):
    """Makes the store `store` from the statements in the file `sql`, with Python's own SQLite and our extension, whose path is
    `extension`."""
    db = sqlite3.connect(store, isolation_level=None)
    db.executescript((ROOT / "profiler/store/schema.sql").read_text())
    header = (ROOT / "profiler/store/store.h").read_text()
    db.execute("PRAGMA user_version = " + re.search(r"kSchemaVersion = (\d+);", header)[1])
    db.enable_load_extension(True)
    db.load_extension(str(pathlib.Path(extension).with_suffix("")))
    db.executescript("BEGIN;" + sql.read_text() + "COMMIT;")
    db.close()
    return store
