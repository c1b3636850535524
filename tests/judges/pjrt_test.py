"""pjrt_test.py BUILD PLUGIN... checks the lazy runtime's backend pjrt with each of these plugins, the first of which also trains.

BUILD is of preset pjrt. Each plugin computes every operation as the reference does, and trains as the native backend does, with the same
donated arguments and the same memory. The example program learns the same on both backends, and its second process compiles
nothing if programs are kept."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(sys.argv[1]).resolve()
PLUGINS = [pathlib.Path(plugin).resolve() for plugin in sys.argv[2:]]
problems = []


def expect(what, is_so, details=""):
    print(f"{'ok' if is_so else 'WRONG'}: {what}{': ' if details else ''}{details}", flush=True)
    if not is_so:
        problems.append(what)


def run(program, *arguments, **environment):
    return subprocess.run([BUILD / program, *map(str, arguments)], capture_output=True, text=True, errors="replace",
                          env={**os.environ, **environment})


def check_tests(program, plugin, least):
    """Runs the tests of pjrt. None may be skipped, because a skipped test would show nothing."""
    done = run(f"tests/{program}", "--gtest_filter=*Pjrt*:*/pjrt", XLAPROF_PJRT_PLUGIN=str(plugin))
    passed = int((re.findall(r"\[  PASSED  \] (\d+) test", done.stdout) or ["0"])[0])
    expect(f"{program} with {plugin.name}", done.returncode == 0 and passed >= least and "[  SKIPPED ]" not in done.stdout, f"{passed} passed")
    if done.returncode != 0:
        print(done.stdout[-5000:], done.stderr[-2000:])


def train(steps, **environment):
    """Returns the last loss and the accuracy in percent."""
    done = run("examples/mnist", "--steps", steps, **environment)
    found = re.search(r"steps took .* s: ([\d.]+) % .* the last loss was ([\d.]+)", done.stdout)
    if not found:
        raise SystemExit(f"mnist said {done.stdout!r} and {done.stderr!r}")
    return float(found[2]), float(found[1])


def check_training(on_pjrt):
    for steps in (1, 5, 20):
        (loss, right), (xla_loss, xla_right) = train(steps, XLAPROF_DEVICE="native"), train(steps, **on_pjrt)
        expect(f"loss after {steps} steps", abs(loss - xla_loss) <= 0.002, f"native {loss}, pjrt {xla_loss}")
        expect(f"accuracy after {steps} steps", abs(right - xla_right) <= 1, f"native {right} %, pjrt {xla_right} %")


def counters(path):
    return dict(re.findall(r"Counter: (\S+)\n  Value: (\d+)", path.read_text()))


def check_cache(on_pjrt):
    with tempfile.TemporaryDirectory(prefix="xlaprof-pjrt-") as folder:
        folder = pathlib.Path(folder)
        losses, counted, kept = [], [], []
        for process in range(2):
            metrics = folder / f"metrics{process}"
            losses.append(train(5, XLA_PERSISTENT_CACHE_PATH=str(folder / "kept"), XLA_METRICS_FILE=str(metrics), **on_pjrt))
            counted.append(counters(metrics))
            kept.append(sorted((path.name, path.stat().st_mtime_ns) for path in (folder / "kept").iterdir()))
        expect("the first process compiles and keeps its programs", int(counted[0].get("UncachedCompile", 0)) >= 2 and len(kept[0]) >= 2,
               f"{counted[0].get('UncachedCompile')} compiled in the steps, {len(kept[0])} files")
        expect("the second process compiles nothing", "UncachedCompile" not in counted[1] and kept[0] == kept[1],
               f"{counted[1].get('PersistentCacheHit')} found in the steps")
        expect("both learn the same", losses[0] == losses[1], str(losses))


def main():
    for plugin in PLUGINS:
        check_tests("backend_tests", plugin, 30)
        check_tests("exec_tests", plugin, 8)
    on_pjrt = {"XLAPROF_DEVICE": "pjrt", "XLAPROF_PJRT_PLUGIN": str(PLUGINS[0])}
    check_training(on_pjrt)
    check_cache(on_pjrt)
    print(f"pjrt: {len(problems)} problems with {len(PLUGINS)} plugins")
    sys.exit(1 if problems else 0)


main()
