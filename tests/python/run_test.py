#!/usr/bin/python3
"""run_test.py BUILD: reads runs with the package of a build, without any other library: the Arrow structures are read by ctypes."""
import ctypes
import doctest
import os
import pathlib
import shutil
import sys
import tempfile
import unittest
import urllib.request
import warnings

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
sys.path.insert(0, str(BUILD / "python"))
os.environ.pop("XLAPROF_RECORD", None)

import xlaprof  # noqa: E402
from xlaprof import _program, _run, _table, _xlaprof  # noqa: E402
from xlaprof.debug import metrics, profiler  # noqa: E402

CAPTURE = GOLDEN / "captures/recompile_equal_weights"


class ArrowArray(ctypes.Structure):
    pass


ArrowArray._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
                       ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
                       ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))), ("dictionary", ctypes.c_void_p), ("release", ctypes.c_void_p),
                       ("private_data", ctypes.c_void_p)]


class ArrowSchema(ctypes.Structure):
    pass


ArrowSchema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
                        ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(ArrowSchema))), ("dictionary", ctypes.c_void_p),
                        ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]


class ArrowArrayStream(ctypes.Structure):
    pass


ArrowArrayStream._fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowArrayStream), ctypes.POINTER(ArrowSchema))),
                             ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowArrayStream), ctypes.POINTER(ArrowArray))),
                             ("get_last_error", ctypes.c_void_p), ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]


def pointer(capsule, name, kind):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(get(capsule, name), ctypes.POINTER(kind)).contents


def release(structure, kind):
    ctypes.CFUNCTYPE(None, ctypes.POINTER(kind))(structure.release)(ctypes.byref(structure))


def column(array, code):
    """Returns the values of a column by Arrow's rules."""
    buffers = [array.buffers[i] for i in range(array.n_buffers)]
    valid = ctypes.cast(buffers[0], ctypes.POINTER(ctypes.c_uint8)) if buffers and buffers[0] else None
    if code in (b"l", b"g"):
        values = ctypes.cast(buffers[1], ctypes.POINTER(ctypes.c_int64 if code == b"l" else ctypes.c_double))
        get = values.__getitem__
    elif code in (b"U", b"Z"):
        ends = ctypes.cast(buffers[1], ctypes.POINTER(ctypes.c_int64))

        def get(row):
            text = ctypes.string_at(buffers[2] + ends[row], ends[row + 1] - ends[row])
            return text.decode() if code == b"U" else text
    else:
        assert code == b"n" and array.null_count == array.length, code
        return [None] * array.length
    return [get(row) if valid is None or valid[row // 8] >> row % 8 & 1 else None for row in range(array.length)]


class Reads(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = xlaprof.open(CAPTURE)

    def test_findings_are_those_of_the_program(self):
        finding = self.run_.findings[0]
        self.assertEqual((finding.place, finding.function, finding.count, finding.reason, finding.state),
                         ("train.py:24", "total_loss", 2, "constant_change", "settled"))
        self.assertEqual(len(self.run_.sql(finding.evidence[0].query)), 2)
        self.assertIn("train.py:24", self.run_.findings._repr_html_())
        self.assertEqual(len(self.run_.findings), len(self.run_.sql("SELECT * FROM findings")))
        self.assertEqual(self.run_.summary["steps"], 36)

    def test_a_report_is_text_and_markdown(self):
        report = self.run_.report()
        self.assertEqual(str(report), _program.run("report", CAPTURE, "--colour", "never"))
        self.assertTrue(report._repr_markdown_().startswith("**xlaprof"))

    def test_steps_and_compiles(self):
        self.assertEqual(len(self.run_.steps), 36)
        self.assertEqual(len(self.run_.compiles), 4)
        self.assertEqual(self.run_.steps["number"], list(range(36)))
        self.assertEqual(sum(self.run_.steps["compiles"]), 4)
        self.assertEqual(self.run_.compiles.columns[:4], ("id", "step", "file", "line"))

    def test_columns_have_the_type_of_their_values(self):
        table = self.run_.sql("SELECT * FROM (VALUES (1, 1, 1.5, 'ä', x'00ff', NULL, 1, 1), (2, 2.5, NULL, NULL, NULL, NULL, 'x', x'01'),"
                              " (-9223372036854775808, 3, 2, '', x'', NULL, 0.5, 'y'))")
        self.assertEqual(list(table), [(1, 1.0, 1.5, "ä", b"\x00\xff", None, "1", b"1"), (2, 2.5, None, None, None, None, "x", b"\x01"),
                                       (-2**63, 3.0, 2.0, "", b"", None, "0.5", b"y")])
        schema = pointer(schema_capsule := table.__arrow_c_schema__(), b"arrow_schema", ArrowSchema)
        self.assertEqual(schema.format, b"+s")
        codes = [schema.children[i].contents.format for i in range(schema.n_children)]
        self.assertEqual(codes, [b"l", b"g", b"g", b"U", b"Z", b"n", b"U", b"Z"])
        stream = pointer(capsule := table.__arrow_c_stream__(), b"arrow_array_stream", ArrowArrayStream)
        array = ArrowArray()
        self.assertEqual(stream.get_next(ctypes.byref(stream), ctypes.byref(array)), 0)
        # The buffers outlive what they come from.
        rows = list(table)
        del table, capsule
        columns = [column(array.children[i].contents, code) for i, code in enumerate(codes)]
        self.assertEqual(list(zip(*columns)), rows)
        release(array, ArrowArray)
        self.assertIsNone(array.release)
        del schema_capsule

    def test_a_stream_ends_and_children_may_be_moved(self):
        table = self.run_.sql("SELECT 1 AS a, 'x' AS b")
        stream = pointer(capsule := table.__arrow_c_stream__(requested_schema=None), b"arrow_array_stream", ArrowArrayStream)
        array, end, moved = ArrowArray(), ArrowArray(), ArrowArray()
        stream.get_next(ctypes.byref(stream), ctypes.byref(array))
        stream.get_next(ctypes.byref(stream), ctypes.byref(end))
        self.assertIsNone(end.release)
        child = array.children[1].contents
        ctypes.memmove(ctypes.byref(moved), ctypes.byref(child), ctypes.sizeof(ArrowArray))
        child.release = None
        release(array, ArrowArray)
        del table, capsule
        self.assertEqual(column(moved, b"U"), ["x"])
        release(moved, ArrowArray)
        capsules = self.run_.sql("SELECT 1 AS a, 2 AS a").__arrow_c_array__()
        schema = pointer(capsules[0], b"arrow_schema", ArrowSchema)
        self.assertEqual([schema.children[i].contents.name for i in range(2)], [b"a", b"a_2"])
        self.assertEqual(pointer(capsules[1], b"arrow_array", ArrowArray).length, 1)

    def test_an_empty_result(self):
        table = self.run_.sql("SELECT id, name, dur_ns FROM step WHERE 0")
        self.assertEqual((len(table), list(table), table.columns), (0, [], ("id", "name", "dur_ns")))
        self.assertEqual(repr(table), "id  name  dur_ns\n(0 rows)")
        stream = pointer(capsule := table.__arrow_c_stream__(), b"arrow_array_stream", ArrowArrayStream)
        array = ArrowArray()
        stream.get_next(ctypes.byref(stream), ctypes.byref(array))
        self.assertEqual((array.length, array.n_children, array.children[1].contents.n_buffers), (0, 3, 3))
        release(array, ArrowArray)
        del capsule
        self.assertEqual(len(self.run_.sql("-- nothing")), 0)

    def test_texts_that_are_not_utf_8_are_replaced(self):
        self.assertEqual(list(self.run_.sql("SELECT CAST(x'61ff62' AS TEXT)")), [("a\ufffdb",)])

    def test_wrong_sql_says_where(self):
        with self.assertRaisesRegex(xlaprof.Error, "no such table: no_table"):
            self.run_.sql("SELECT * FROM no_table")
        with self.assertRaisesRegex(xlaprof.Error, "only reads"):
            self.run_.sql("DELETE FROM step")
        self.run_.sql("CREATE TEMP TABLE mine AS SELECT number FROM step")
        self.assertEqual(list(self.run_.sql("SELECT count(*) FROM mine")), [(36,)])

    def test_paths_that_cannot_be_read(self):
        with self.assertRaisesRegex(xlaprof.Error, "/nothing/here"):
            xlaprof.open("/nothing/here")
        with self.assertRaises(TypeError):
            xlaprof.open()

    def test_a_notebook_shows_the_page(self):
        page = _run.View(self.run_._path, 500)._repr_html_()
        self.assertTrue(page.startswith("<iframe srcdoc="))
        self.assertIn("height:500px", page)
        self.assertIn("&lt;title&gt;xlaprof", page)

    def test_the_viewer_serves(self):
        os.environ["BROWSER"] = "true"
        view = self.run_.view()
        try:
            with urllib.request.urlopen(view.address) as page:
                self.assertIn(b"<title>xlaprof", page.read())
        finally:
            view.stop()

    def test_files_are_deleted(self):
        with xlaprof.open(CAPTURE) as run:
            folder = pathlib.Path(run._folder)
            self.assertTrue(folder.exists())
        self.assertFalse(folder.exists())

    def test_a_saved_run_is_read_in_place(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/saved.xlaprof"
            self.run_.save(path)
            with xlaprof.open(path) as run:
                self.assertEqual(run._path, path)
                self.assertEqual(list(run.compiles), list(self.run_.compiles))
                self.assertEqual(run.findings, self.run_.findings)
                run.export(folder + "/run.json", "chrome")
            self.assertTrue(os.path.exists(path) and os.path.getsize(folder + "/run.json") > 0)
            with self.assertRaises(FileExistsError):
                self.run_.save(path)

    def test_doctests(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(self.run_._path, folder + "/run.xlaprof")
            before = os.getcwd()
            os.chdir(folder)
            try:
                for module in (_run, _table, metrics, profiler):
                    done = doctest.testmod(module, extraglobs={"open": xlaprof.open})
                    self.assertEqual((done.failed, done.attempted > 0), (0, True), module)
            finally:
                os.chdir(before)


class Mirrors(unittest.TestCase):
    def test_the_profiler(self):
        with tempfile.TemporaryDirectory() as folder:
            profiler.start_trace(folder)
            with self.assertRaisesRegex(RuntimeError, "already"):
                profiler.start_trace(folder)

            @profiler.trace_me("decorated")
            def work():
                return 7

            for step in range(3):
                with profiler.StepTrace("train", step_num=step, loss=0.5), profiler.Trace("forward"):
                    self.assertEqual(work(), 7)
            self.assertTrue(profiler.get_tracer_marked_step())
            profiler.stop_trace()
            with self.assertRaisesRegex(RuntimeError, "No profile"):
                profiler.stop_trace()
            with xlaprof.open(folder) as run:
                self.assertEqual(run.steps["number"], [0, 1, 2])
                self.assertEqual(run.steps["name"], ["train"] * 3)
                names = run.sql("SELECT name, count(*) AS count FROM event GROUP BY name ORDER BY name")
                self.assertEqual(list(names), [("decorated", 3), ("forward", 3), ("train", 3)])
                lines = run.sql("SELECT DISTINCT e.name, a.value FROM event e JOIN arg a ON a.event_id = e.id WHERE a.key = 'source_line'")
                line = dict(lines)["train"]
                self.assertEqual(dict(lines), {"decorated": line - 5, "forward": line, "train": line})
        with self.assertRaisesRegex(NotImplementedError, "XLAPROF_RECORD"):
            profiler.start_server(9012)

    def test_metrics(self):
        self.assertEqual((metrics.metric_names(), metrics.counter_value("x"), metrics.metrics_report()), ([], None, ""))
        with tempfile.TemporaryDirectory() as folder, xlaprof.profile(folder):
            for value in (1, 2, 2.5):
                with xlaprof.trace("CompileTime"):
                    xlaprof.counter("loss", value)
            self.assertEqual((metrics.counter_names(), metrics.counter_value("loss")), (["loss"], 2.5))
            count, total, samples = metrics.metric_data("CompileTime")
            self.assertEqual((count, len(samples), total), (3, 3, sum(value for _, value in samples)))
            report = metrics.metrics_report()
            self.assertRegex(report, r"^Metric: CompileTime\n  TotalSamples: 3\n  Accumulator: [0-9.umins]+\n")
            self.assertTrue(report.endswith("Counter: loss\n  Value: 2.5\n"))
            self.assertNotIn("loss", metrics.short_metrics_report())
            path = pathlib.Path(folder) / "report.txt"
            path.write_text(report)
            self.assertIn("metrics_report", _program.run("report", path, "--colour", "never"))
            metrics.clear_all()
            self.assertEqual((metrics.metric_names(), metrics.counter_names()), ([], []))
        self.assertEqual(metrics.executed_fallback_ops(), [])

    def test_names_and_parameters_are_those_of_torch_xla(self):
        import inspect
        expected = {profiler: "Trace StepTrace trace trace_me trace_detached start_server start_trace stop_trace set_tracer_marked_step "
                              "get_tracer_marked_step",
                    metrics: "counter_names counter_value clear_counters metric_names metric_data clear_metrics clear_all metrics_report "
                             "short_metrics_report executed_fallback_ops"}
        for module, names in expected.items():
            for name in names.split():
                self.assertTrue(callable(getattr(module, name)), name)
        self.assertEqual(list(inspect.signature(profiler.trace).parameters), ["service_addr", "logdir", "duration_ms", "num_tracing_attempts",
                                                                              "host_tracer_level", "device_tracer_level", "delay_ms", "timeout_s",
                                                                              "interval_s"])


if __name__ == "__main__":
    warnings.simplefilter("error")
    unittest.main()
