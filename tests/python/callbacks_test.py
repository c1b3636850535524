#!/usr/bin/python3
"""callbacks_test.py BUILD: tests what the callbacks share, without any framework. tests/live/callbacks_test.py runs them with the frameworks."""
import importlib.util
import os
import pathlib
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(BUILD / "python"))
os.environ.pop("XLAPROF_RECORD", None)

import xlaprof  # noqa: E402
from xlaprof import callbacks  # noqa: E402
from xlaprof.callbacks._training import Training, place  # noqa: E402


def model():
    """A function of the user's."""


class Callbacks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "runs"

    def sql(self, text):
        with xlaprof.open(self.folder) as run:
            return list(run.sql(text))

    def test_scopes_lie_in_steps_and_have_the_line_of_the_users_function(self):
        training, step, forward = Training(self.folder), place("train"), place("forward", model)
        training.begin()
        for number in range(3):
            training.begin_step(number, step)
            training.begin_scope(forward)
            training.end_scope(forward)
            training.end_scope(forward)  # which has ended
            training.end_scope(step)
        training.end()
        self.assertFalse(xlaprof.is_recording())
        self.assertEqual(self.sql("SELECT number, name FROM step ORDER BY ts_ns"), [(0, "train"), (1, "train"), (2, "train")])
        arguments = "(SELECT value FROM arg WHERE event_id = event.id AND key = '{}')"
        place_of = ", ".join(arguments.format(key) for key in ("source_file", "source_line"))
        self.assertEqual(self.sql(f"SELECT DISTINCT name, depth, {place_of} FROM event WHERE name IN ('train', 'forward') ORDER BY depth"),
                         [("train", 0, None, None), ("forward", 1, str(pathlib.Path(__file__)), model.__code__.co_firstlineno)])

    def test_a_scope_that_ends_ends_what_it_encloses(self):
        training, step, forward, backward = Training(self.folder), place("train"), place("forward"), place("backward")
        training.begin()
        training.begin_step(0, step)
        training.begin_scope(forward)
        training.begin_scope(backward)
        training.end_scope(step)
        self.assertFalse(training.is_open(forward))
        training.begin_step(1, step)  # which fails, so nobody ends it
        training.begin()  # of the next training, into the same recording
        self.assertFalse(training.is_open(step))
        self.assertTrue(xlaprof.is_recording())
        training.end()
        self.assertEqual(self.sql("SELECT count(*) FROM event WHERE name IN ('train', 'forward', 'backward')"), [(4,)])

    def test_only_numbers_of_python_are_counted(self):
        class Tensor:
            def __float__(self):
                raise AssertionError("the device was waited for")

            item = __float__

        training = Training(self.folder)
        training.begin()
        training.count({"loss": 0.5, "epoch": 1, "name": "a", "is_last": True, "on_device": Tensor(), "nothing": None})
        training.count(None)
        training.end()
        self.assertEqual(self.sql("SELECT t.name, s.value FROM counter_sample s JOIN track t ON t.id = s.track_id ORDER BY t.name"),
                         [("epoch", 1), ("loss", 0.5)])

    def test_a_recording_that_runs_already_goes_on(self):
        training, step = Training(self.folder / "other"), place("train")
        with xlaprof.profile(self.folder):
            training.begin()
            training.begin_step(0, step)
            training.end()
            self.assertTrue(xlaprof.is_recording())
        self.assertEqual(self.sql("SELECT count(*) FROM step"), [(1,)])
        self.assertFalse((self.folder / "other").exists())

    def test_a_framework_that_is_missing_is_named(self):
        for callback, package in (("LightningCallback", "lightning"), ("TrainerCallback", "transformers"), ("KerasCallback", "keras")):
            if importlib.util.find_spec(package) is None:
                said = f"xlaprof.callbacks.{callback} needs {package}, which is not installed. Run: pip install {package}"
                with self.assertRaisesRegex(ImportError, said):
                    getattr(callbacks, callback)
        self.assertEqual(set(callbacks.__all__) - set(dir(callbacks)), set())
        with self.assertRaisesRegex(AttributeError, "no attribute 'Other'"):
            callbacks.Other


unittest.main()
