"""Measures whole processes: CPU seconds and peak memory as the kernel counts them."""
import json
import os
import statistics
import subprocess
import tempfile
import time


class Failed(Exception):
    """A command failed. The message is the last line of its error output."""


class Sample:
    """One run of a command: its CPU seconds (user and system, all threads), its wall-clock seconds, its peak memory in MB (1e6
    bytes), and its last line of output, if that is JSON. Peak memory is at least that of this script, some 20 MB."""

    def __init__(self, cpu_s, wall_s, peak_mb=None, said=None):
        self.cpu_s, self.wall_s, self.peak_mb, self.said = cpu_s, wall_s, peak_mb, said or {}


def run(*argv, to=None):
    """Runs a command once. If the file `to` is given, the output goes there and is not read."""
    argv = [str(a) for a in argv]
    with (open(to, 'wb') if to else tempfile.TemporaryFile()) as out, tempfile.TemporaryFile() as err:
        begin = time.perf_counter()
        try:
            child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        except OSError as error:
            raise Failed(f'{argv[0]}: {error.strerror}') from None
        _, status, used = os.wait4(child.pid, 0)
        wall_s = time.perf_counter() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            err.seek(0)
            tail = err.read().decode(errors='replace').strip().splitlines()
            raise Failed(f'{os.path.basename(argv[0])} ended with {child.returncode}: {tail[-1] if tail else "no message"}')
        lines = []
        if to is None:
            out.seek(max(0, out.seek(0, os.SEEK_END) - 65536))
            lines = out.read().decode(errors='replace').strip().splitlines()
    try:
        said = json.loads(lines[-1]) if lines else None
    except ValueError:
        said = None
    return Sample(used.ru_utime + used.ru_stime, wall_s, used.ru_maxrss * 1024 / 1e6, said if isinstance(said, dict) else None)


class Spread:
    """Median, minimum and maximum of some figures, or of their ratios to other figures."""

    def __init__(self, values):
        values = sorted(values)
        self.median, self.min, self.max = statistics.median(values), values[0], values[-1]

    def text(self, unit):
        form = {'s': '{:.3f}', 'ms': '{:.1f}', 'ns': '{:.0f}', 'MB': '{:.0f}', 'ns1': '{:.2f}', 'M': '{:.1f}', 'B': '{:.2f}', '%': '{:.0f}',
                'us': '{:.2f}', 'count': '{:.0f}'}[unit]
        low, high = form.format(self.min), form.format(self.max)
        unit = {'ns1': 'ns', 'M': 'million', 'count': 'events'}.get(unit, unit)
        return form.format(self.median) + f' {unit}' + (f' ({low} to {high})' if low != high else '')
