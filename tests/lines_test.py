#!/usr/bin/python3
"""Checks what scripts/lines counts."""
import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True  # not into scripts/
SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "scripts/lines"
loader = importlib.machinery.SourceFileLoader("lines", str(SCRIPT))
lines = importlib.util.module_from_spec(importlib.util.spec_from_loader("lines", loader))
loader.exec_module(lines)


class Lines(unittest.TestCase):
    def test_a_file_counts_once_in_each_of_its_families(self):
        counts = lines.counts({"analyzers/recompile/dynamo.cc": "a\nb\n", "profiler/import/log/dynamo_log.cc": "c\n",
                               "analyzers/nouns/read.cc": "d\n"})
        self.assertEqual({family: counts[f"lines: {family}"] for family in lines.FAMILIES},
                         {"analyzers": 3, "profiler/import": 1, "lost time": 1, "recompilation": 2, "torch.compile": 3,
                          "recompilation and torch.compile": 3})

    def test_numbers_of_policy_are_told_from_others(self):
        counts = lines.counts({
            "analyzers/policy.h": "inline constinit Threshold kShare{\n    0.5};\ninline constinit Threshold kCount{int64_t{2}};\n",
            "analyzers/words/a.cc": "constexpr size_t kMost = 3, kLeast = 1;\n  constexpr double kShare = 0.5;\n"})
        self.assertEqual(counts["numbers: analyzers/policy.h"], 2)
        self.assertEqual(counts["numbers: elsewhere in analyzers/"], 2)

    def test_each_family_has_files(self):
        counts = lines.counts(lines.files_of_tree(lines.ROOT))
        self.assertNotIn(0, counts.values())


if __name__ == "__main__":
    unittest.main()
