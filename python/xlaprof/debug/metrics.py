"""The functions of torch_xla.debug.metrics, for programs that run without torch_xla.

``import xlaprof.debug.metrics as met`` takes the place of ``import torch_xla.debug.metrics as met``. Metrics are the
scopes that xlaprof records in this process, and counters are what xlaprof.counter records. While nothing records,
there are none.

>>> import tempfile, xlaprof
>>> with tempfile.TemporaryDirectory() as folder, xlaprof.profile(folder):
...     for loss in (3, 2):
...         with xlaprof.trace("forward"):
...             xlaprof.counter("loss", loss)
...     metric_names(), metric_data("forward")[0], counter_names(), counter_value("loss")
(['forward'], 2, ['loss'], 2)
"""
from typing import List, Optional

from xlaprof import _xlaprof

_MOST_SAMPLES = 1024  # as many as torch_xla keeps of a metric
_PERCENTILES = (1, 5, 10, 20, 50, 80, 90, 95, 99)
# Events and samples up to these times of the store were cleared.
_cleared_metrics = _cleared_counters = -1
_cleared_of = None


def _read(sql):
    """Returns the rows of SQL on the running recording, in which {metrics} and {counters} are the times of clearing."""
    global _cleared_metrics, _cleared_counters, _cleared_of
    path = _xlaprof.commit()
    if path is None:
        return []
    if path != _cleared_of:
        _cleared_of, _cleared_metrics, _cleared_counters = path, -1, -1
    columns, _ = _xlaprof.Store(path).sql(sql.format(metrics=_cleared_metrics, counters=_cleared_counters))
    return [columns[row] for row in range(len(columns))]


_COUNTERS = "counter_sample s JOIN track t ON t.id = s.track_id WHERE t.kind = 'counter' AND s.ts_ns > {counters}"
_METRICS = "event WHERE category IN ('scope', 'step') AND dur_ns > 0 AND ts_ns > {metrics}"


def counter_names():
    """Returns the names of the counters."""
    return [name for (name,) in _read(f"SELECT DISTINCT t.name FROM {_COUNTERS} ORDER BY t.name")]


def counter_value(name):
    """Returns a counter's last value, or None if there is no such counter."""
    values = [value for of, _, value in _read(f"SELECT t.name, s.ts_ns, s.value FROM {_COUNTERS} ORDER BY s.ts_ns") if of == name]
    return _number(values[-1]) if values else None


def _number(value):
    return int(value) if value is not None and value == int(value) else value


def clear_counters():
    """Forgets the values of all counters."""
    global _cleared_counters
    _cleared_counters = max((time for (time,) in _read(f"SELECT max(s.ts_ns) FROM {_COUNTERS}") if time is not None), default=_cleared_counters)


def metric_names():
    """Returns the names of the metrics, which are those of the recorded scopes."""
    return [name for (name,) in _read(f"SELECT DISTINCT name FROM {_METRICS} ORDER BY name")]


def metric_data(name):
    """Returns (number of values, their sum, the last values as (time in s, value in ns)), or None for no such metric."""
    samples = _samples().get(name)
    return None if not samples else (len(samples), float(sum(value for _, value in samples)), samples[-_MOST_SAMPLES:])


def _samples():
    """Returns all values by metric, in the order of their ends."""
    samples = {}
    for name, end_ns, dur_ns in _read("SELECT name, ts_ns + dur_ns + (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'base_epoch_ns'), dur_ns "
                                      f"FROM {_METRICS} ORDER BY 2"):
        samples.setdefault(name, []).append((end_ns / 1e9, float(dur_ns)))
    return samples


def clear_metrics():
    """Forgets the values of all metrics."""
    global _cleared_metrics
    _cleared_metrics = max((time for (time,) in _read(f"SELECT max(ts_ns) FROM {_METRICS}") if time is not None), default=_cleared_metrics)


def clear_all():
    """Forgets all metrics and all counters."""
    clear_metrics()
    clear_counters()


def _report(metrics, counters):
    """Returns the report on the metrics and counters that the two functions accept."""
    lines = []
    for name, samples in sorted(_samples().items()):
        if not metrics(name):
            continue
        kept = samples[-_MOST_SAMPLES:]
        values = sorted(value for _, value in kept)
        span_s = kept[-1][0] - kept[0][0]
        lines += [f"Metric: {name}", f"  TotalSamples: {len(samples)}", f"  Accumulator: {_duration(sum(value for _, value in samples))}"]
        if span_s > 0:
            lines += [f"  ValueRate: {_duration(sum(values) / span_s)} / second", f"  Rate: {len(kept) / span_s:g} / second"]
        lines.append("  Percentiles: " + "; ".join(f"{percent}%={_duration(values[min(len(values) - 1, len(values) * percent // 100)])}"
                                                   for percent in _PERCENTILES))
    for name in counter_names():
        if counters(name):
            lines += [f"Counter: {name}", f"  Value: {counter_value(name)}"]
    return "".join(line + "\n" for line in lines)


def _duration(ns):
    """Returns a time as torch_xla prints it: 01m02s003ms004.005us."""
    us, rest = divmod(ns, 1000)
    us = int(us)
    parts = [(us // 60_000_000, "m", 2), (us // 1_000_000 % 60, "s", 2), (us // 1000 % 1000, "ms", 3)]
    while parts and parts[0][0] == 0:
        del parts[0]
    return "".join(f"{number:0{width}}{unit}" for number, unit, width in parts) + f"{us % 1000 + rest / 1000:07.3f}us"


def metrics_report():
    """Returns a text of all metrics and counters, in torch_xla's form, which `xlaprof report` reads."""
    return _report(lambda name: True, lambda name: True)


def short_metrics_report(counter_names: Optional[List[str]] = None, metric_names: Optional[List[str]] = None) -> str:
    """Returns the report on these counters and metrics, or, without names, on those that torch_xla chooses."""
    counters = counter_names or ["CachedCompile", "MarkStep", "DynamoSyncInputExecuteTime"]
    metrics = metric_names or ["CompileTime", "ExecuteTime", "ExecuteReplicatedTime", "TransferToDeviceTime", "TransferFromDeviceTime"]
    return _report(metrics.__contains__, counters.__contains__)


def executed_fallback_ops():
    """Returns an empty list: ops fall back to the CPU only in torch_xla."""
    return []
