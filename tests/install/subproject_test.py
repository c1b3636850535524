#!/usr/bin/python3
"""subproject_test.py SOURCE PROGRAM: builds the outside project with xlaprof's recorder as a part of it (add_subdirectory), where no
other package than zstd and threads is found, and runs it. PROGRAM is xlaprof, which reads what was recorded."""
import os
import pathlib
import sys
import tempfile

from outside_checks import check_programs, expect, run

HERE = pathlib.Path(__file__).resolve().parent
# Packages that the complete build asks for. If the recorder asks for one, the configuration fails.
OTHER_PACKAGES = ["absl", "fmt", "SQLite3", "Protobuf", "gRPC", "nlohmann_json", "CLI11", "ZLIB", "dnnl", "GTest", "benchmark"]


def main():
    source, program = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="xlaprof-subproject-") as folder:
        folder = pathlib.Path(folder).resolve()
        build = folder / "build"
        settings = {name: os.environ[name] for name in os.environ if name.startswith(("CCACHE", "XLAPROF_CACHE", "XDG"))}
        # The folder of the build differs each time, so ccache must not compare it.
        settings.setdefault("CCACHE_BASEDIR", "/")
        settings["CCACHE_NOHASHDIR"] = "1"
        run("cmake", "-S", HERE, "-B", build, "-G", "Ninja", f"-DXLAPROF_FOLDER={source}", "-DCMAKE_BUILD_TYPE=Release",
            "-DCMAKE_CXX_FLAGS_RELEASE=-O1", "-DCMAKE_UNITY_BUILD=ON",
            *[f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in OTHER_PACKAGES], **settings)
        targets = run("ninja", "-C", build, "-t", "targets", "all", **settings)
        expect("targets of the program and the tests", [word for word in ("cli/", "analyzers/", "tests/") if f"xlaprof/{word}" in targets], [])
        run("ninja", "-C", build, "outside", "outside_c", **settings)
        check_programs(program, build / "outside", build / "outside_c", folder / "runs")
        # Nothing of xlaprof is installed with the outside project.
        run("cmake", "--install", build, "--prefix", folder / "prefix")
        expect("installed files", list((folder / "prefix").glob("**/*xlaprof*")), [])
    print("subproject: the recorder is built as a part of another project, and records what its programs do")


main()
