#!/usr/bin/python3
"""Checks what scripts/skipped lists, from results in the forms that ctest and googletest write."""
import pathlib
import subprocess
import tempfile

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "scripts/skipped"
OF_CTEST = """<testsuite name="Linux" tests="4">
  <testcase name="Pjrt.Learns" classname="Pjrt.Learns" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
    <system-out>[ RUN      ] Pjrt.Learns\n/src/pjrt_test.cc:38: Skipped\nthere is no plugin\n[  SKIPPED ] Pjrt.Learns (0 ms)\n</system-out></testcase>
  <testcase name="torch" classname="torch" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>
    <system-out>looking for torch\nthere is no torch\n\n</system-out></testcase>
  <testcase name="off" classname="off" status="disabled"/>
  <testcase name="docs" classname="docs" status="run"><system-out>all is well</system-out></testcase>
</testsuite>"""
OF_GOOGLETEST = """<testsuites><testsuite name="Pjrt">
  <testcase name="Learns" status="run" result="completed" classname="Pjrt"/>
  <testcase name="Saves" status="run" result="skipped" classname="Pjrt"><skipped message="/src/pjrt_test.cc:38&#x0A;there is no plugin"/></testcase>
</testsuite></testsuites>"""
RAN = '<testsuite><testcase name="docs" classname="docs" status="run"/></testsuite>'


def listed(folder, *arguments, **results):
    paths = []
    for name, text in results.items():
        paths.append(folder / f"{name}.xml")
        paths[-1].write_text(text)
    return subprocess.run([SCRIPT, *arguments, *paths], check=True, text=True, stdout=subprocess.PIPE).stdout


def expect(what, found, expected):
    assert found == expected, f"{what}: {found!r}, expected {expected!r}"


with tempfile.TemporaryDirectory(prefix="xlaprof-skipped-") as folder:
    folder = pathlib.Path(folder)
    expect("skipped tests", listed(folder, a=OF_CTEST, b=OF_GOOGLETEST), """4 tests were skipped (6 results):
  it is switched off
    off
  there is no plugin
    Pjrt.Learns (it ran in another build)
    Pjrt.Saves
  there is no torch
    torch
""")
    expect("none", listed(folder, a=RAN), "No test was skipped (1 results).\n")
    expect("a result that is cut off", listed(folder, a=OF_CTEST[:300]), f"1 test was skipped (0 results):\n  {folder}/a.xml is not whole\n    a\n")
    build = folder / "build"
    build.mkdir()
    (build / "CTestTestfile.cmake").write_text("".join(f"add_test({name} true)\n" for name in ("docs", "install", "viewer", "Suite.Case")))
    expect("tests that did not run", listed(folder, "--known", build, "--ran", "viewer", a=RAN), "Not run here: install\n")
    expect("a preset that was not configured", listed(folder, "--known", folder / "none", a=RAN), "No test was skipped (1 results).\n")
