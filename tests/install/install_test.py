#!/usr/bin/python3
"""install_test.py BUILD: installs xlaprof into a temporary prefix, and builds and runs the outside project there with CMake and with
pkg-config."""
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from outside_checks import Store, check_programs, expect, run

HERE = pathlib.Path(__file__).resolve().parent


def check_exports(library):
    """Checks that the library exports only its C functions, and needs none of the libraries inside it."""
    names = [line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()]
    expect("exported symbols that are not xlaprof's", [name for name in names if not name.startswith("xlaprof_")], [])
    expect("xlaprof_scope_begin is exported", "xlaprof_scope_begin" in names, True)
    needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", library))
    expect("needed libraries", [name for name in needed if re.search("absl|fmt|sqlite|zstd", name)], [])


def check_header(prefix, folder):
    """Checks that the header is C++17 without any warning, includes only the compiler's headers, and is compiled in 0.3 s."""
    source = folder / "header.cc"
    source.write_text('#include <xlaprof/record.h>\nvoid f(int n) {\n  XLAPROF_TRACE("f", "n", n);\n  XLAPROF_TRACE_IN("io", "g");\n}\n')
    (folder / "header.c").write_text('#include <xlaprof/record.h>\nvoid f(void) {\n  XLAPROF_TRACE("f");\n}\n')
    include = f"-I{prefix}/include"
    strict = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", include]
    for define in ([], ["-DXLAPROF_NO_RECORD"]):
        run("gcc", "-std=c11", *strict, *define, "-c", folder / "header.c", "-o", folder / "c.o")
    run("g++", "-std=c++17", "-pedantic", "-DXLAPROF_NO_RECORD", *strict, "-c", source, "-o", folder / "none.o")
    expect("symbols of xlaprof without the recorder", [line for line in run("nm", folder / "none.o").splitlines() if "xlaprof" in line], [])
    least = 9.0
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run("g++", "-std=c++17", "-pedantic", "-O2", *strict, "-c", source, "-o", folder / "header.o")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    print(f"the header is compiled in {least:.2f} s of CPU")
    # A slow machine fails nothing: the limit is relative to the compiler's time for <string>, which is about half of it.
    (folder / "string.cc").write_text("#include <string>\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run("g++", "-std=c++17", "-O2", "-c", folder / "string.cc", "-o", folder / "string.o")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    string = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    expect(f"{least:.2f} s is at most 0.3 s, or twice what <string> takes ({string:.2f} s)", least <= max(0.3, 2 * string), True)
    files = run("g++", "-std=c++17", "-M", include, source).replace("\\\n", " ").split()[2:]
    foreign = [file for file in files if not re.search(rf"^/usr/include/(c\+\+/|[^/]*\.h$|[^/]*-linux-gnu/)|^/usr/lib/gcc|^{prefix}/", file)]
    expect("included headers of other libraries", foreign, [])


def check_capture(program, served, folder, recorded):
    """Captures a program that started a server: its own scopes and what the lazy runtime of the other library does."""
    folder.mkdir()
    port = folder / "port"
    with subprocess.Popen([served, port], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={"PATH": os.environ["PATH"], **recorded}) as training:
        while not port.exists():
            expect("the program runs", training.poll(), None)
            time.sleep(0.01)
        try:
            run(program, "capture", f"localhost:{port.read_text()}", "--duration", "200ms", "-o", "captured.xlaprof", cwd=folder)
        finally:
            (folder / "port.done").touch()
        said = training.communicate()[0]
    expect("exit status of the captured program", training.returncode, 0)
    expect("a second server on the port", "cannot listen there" in said, True)
    captured = Store(program, folder / "captured.xlaprof")
    expect("scopes of the user", captured.rows("SELECT count(*) > 0 FROM event WHERE name = 'user''s step'"), ["1"])
    expect("work of the runtime", captured.rows("SELECT count(*) > 0 FROM event WHERE name = 'SyncTensorsGraph'"), ["1"])
    if recorded:
        whole = Store(program, folder / "all.xlaprof")
        expect("the recording goes on after the capture", whole.rows(
            "SELECT count(*) > 0 FROM event WHERE name = 'user''s step'"), ["1"])
        expect("the recording is whole", whole.rows("SELECT min(ended) FROM recording"), ["1"])


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="xlaprof-install-") as folder:
        folder = pathlib.Path(folder).resolve()
        run("cmake", "--install", build, "--prefix", folder / "made")
        prefix = folder / "prefix"
        (folder / "made").rename(prefix)  # the installed tree may be moved
        program = prefix / "bin" / "xlaprof"
        library = next(prefix.glob("lib*/**/libxlaprof_record.so"))
        check_exports(library)
        check_header(prefix, folder)

        outside = folder / "outside"
        run("cmake", "-S", HERE, "-B", outside, f"-DCMAKE_PREFIX_PATH={prefix}", "-DWITH_LAZY=ON")
        run("cmake", "--build", outside)
        check_programs(program, outside / "outside", outside / "outside_c", folder / "with_cmake")

        # The recording of a program contains what the lazy runtime of the other library does.
        run(outside / "outside_lazy", cwd=folder, XLAPROF_RECORD="lazy.xlaprof")
        lazy = Store(program, folder / "lazy.xlaprof")
        expect("scopes of the user", lazy.rows("SELECT count(*) FROM event WHERE name = 'user''s step'"), ["3"])
        expect("executions of the runtime", lazy.rows("SELECT count(*) >= 3 FROM execution"), ["1"])

        for recorded in ({}, {"XLAPROF_RECORD": "all.xlaprof"}):
            check_capture(program, outside / "outside_served", folder / f"served_{len(recorded)}", recorded)
        needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", outside / "outside_lazy"))
        expect("libraries of a program without a server", [name for name in needed if re.search("grpc|xlaprof_serve", name)], [])

        # The program is found without PATH and XLAPROF_PROGRAM, because it is in the library's prefix.
        report = run(outside / "outside", cwd=folder, PATH="/usr/bin:/bin", XLAPROF_REPORT="1")
        expect("a report at the end", "2 steps" in report and "cannot run" not in report, True)

        flags = run("pkg-config", "--cflags", "--libs", "xlaprof", PKG_CONFIG_PATH=str(library.parent / "pkgconfig")).split()
        expect("version", run("pkg-config", "--modversion", "xlaprof", PKG_CONFIG_PATH=str(library.parent / "pkgconfig")).strip(),
               run(program, "--version").split()[1])
        run("g++", "-std=c++17", "-pthread", HERE / "outside.cc", *flags, "-o", folder / "by_pkg_config")
        run("gcc", "-std=c11", HERE / "outside.c", *flags, "-o", folder / "c_by_pkg_config")
        check_programs(program, folder / "by_pkg_config", folder / "c_by_pkg_config", folder / "with_pkg_config",
                       LD_LIBRARY_PATH=str(library.parent))
    print("install: the installed libraries record what the outside programs do")


main()
