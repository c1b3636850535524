"""The table of bench/run: its figures, and how they are printed."""
import os

import work
from measure import Spread


class Ratio:
    """Compares one of our figures with a peer's of the same round. The ratio says how many times smaller ours is. `want` is the
    least ratio that meets the target; None: the row has no target."""

    def __init__(self, what, ours, peer, peer_task, want, field='cpu_s', unit='s'):
        self.what, self.ours, self.peer, self.peer_task, self.want = what, ours, peer, peer_task, want
        self.field, self.unit = field, unit

    def tasks(self):
        return [self.ours, self.peer_task]

    def cells(self, samples):
        scale = {'ms': 1e3}.get(self.unit, 1)
        ours = [getattr(s, self.field) * scale for s in samples[self.ours]]
        theirs = [getattr(s, self.field) * scale for s in samples[self.peer_task]]
        ratio = Spread([b / a for a, b in zip(ours, theirs)])
        target = '' if self.want is None else f'at least {self.want:.2g}x'
        met = None if self.want is None else ratio.median >= self.want
        return [self.what, Spread(ours).text(self.unit), f'{self.peer}: {Spread(theirs).text(self.unit)}', f'{ratio.median:.1f}x',
                target, met]


class Limit:
    """One of our figures and its upper bound. `most` is a number or a function; None: the row has no target."""

    def __init__(self, what, ours, most, field='cpu_s', unit='s'):
        self.what, self.ours, self.most, self.field, self.unit = what, ours, most, field, unit

    def tasks(self):
        return [self.ours]

    def cells(self, samples):
        ours = Spread([getattr(s, self.field) for s in samples[self.ours]])
        if self.most is None:
            return [self.what, ours.text(self.unit), '', '', '', None]
        most = self.most() if callable(self.most) else self.most
        return [self.what, ours.text(self.unit), '', '', f'at most {most:g} {self.unit}', ours.median <= most]


class PerEvent:
    """One of our figures per event, compared with that of the smallest input. A ratio of 1 means linear growth."""

    def __init__(self, what, ours, millions):
        self.what, self.ours, self.millions = what, ours, millions

    def tasks(self):
        return [f'{self.ours} {work.SIZES_M[0]}M', f'{self.ours} {self.millions}M']

    def cells(self, samples):
        first, mine = (Spread([s.cpu_s * 1e3 / m for s in samples[task]])
                       for task, m in zip(self.tasks(), (work.SIZES_M[0], self.millions)))
        peak = Spread([s.peak_mb for s in samples[self.tasks()[1]]])
        growth = mine.median / first.median
        return [self.what, mine.text('ns') + f', {peak.median:.0f} MB', '', f'{growth:.2f} of 1 M', 'at most 1.25', growth <= 1.25]


class Within:
    """A figure that our program prints, compared with another that it measured in the same run: the target is at most `most` times
    the other. `of` computes the other figure from what the program printed, and `said` is its name."""

    def __init__(self, what, ours, field, said, of, most, unit='ns'):
        self.what, self.ours, self.field, self.said, self.of, self.most, self.unit = what, ours, field, said, of, most, unit

    def tasks(self):
        return [self.ours]

    def cells(self, samples):
        ours = [s.said[self.field] for s in samples[self.ours]]
        others = [self.of(s.said) for s in samples[self.ours]]
        ratio = Spread([a / b for a, b in zip(ours, others)])
        return [self.what, Spread(ours).text(self.unit), f'{self.said}: {Spread(others).text(self.unit)}', f'{ratio.median:.2f}x',
                f'at most {self.most:g}x', ratio.median <= self.most]


class Said:
    """A figure that our program prints, and its lower or upper bound; None: no bound."""

    def __init__(self, what, ours, field, unit, least=None, most=None):
        self.what, self.ours, self.field, self.unit, self.least, self.most = what, ours, field, unit, least, most

    def tasks(self):
        return [self.ours]

    def cells(self, samples):
        ours = Spread([s.said[self.field] for s in samples[self.ours]])
        if self.least is None and self.most is None:
            return [self.what, ours.text(self.unit), '', '', '', None]
        if self.least is not None:
            return [self.what, ours.text(self.unit), '', '', f'at least {self.least:g}', ours.median >= self.least]
        return [self.what, ours.text(self.unit), '', '', f'at most {self.most:g}', ours.median <= self.most]


class Beside:
    """A figure that our program and a peer's print. Each is divided by the floor that the same program measured, which removes much
    of the noise. `want` is the least ratio that meets the target; None: the row has no target."""

    def __init__(self, what, ours, field, peer, peer_task, floor='clock_ns', unit='ns', want=None):
        self.what, self.ours, self.field, self.peer, self.peer_task = what, ours, field, peer, peer_task
        self.floor, self.unit, self.want = floor, unit, want

    def tasks(self):
        return [self.ours, self.peer_task]

    def cells(self, samples):
        ours = [s.said[self.field] for s in samples[self.ours]]
        theirs = [s.said[self.field] for s in samples[self.peer_task]]
        ratio = Spread([(b.said[self.field] / b.said[self.floor]) / (a.said[self.field] / a.said[self.floor])
                        for a, b in zip(samples[self.ours], samples[self.peer_task])])
        target = '' if self.want is None else f'at least {self.want:.2g}x'
        met = None if self.want is None else ratio.median >= self.want
        return [self.what, Spread(ours).text(self.unit), f'{self.peer}: {Spread(theirs).text(self.unit)}', f'{ratio.median:.1f}x',
                target, met]


class Lazy(Beside):
    """Compares a figure of the lazy runtime with a framework's."""

    def __init__(self, what, field, peer, want=None):
        super().__init__(what, 'lazy', field, peer, peer, floor='one', unit='us', want=want)


class Section:
    """`programs` are the targets to build for it; `envs` are the environments of scripts/env that its peers need."""

    def __init__(self, title, note, rows, programs=work.PROGRAMS, envs=('peers',)):
        self.title, self.note, self.rows, self.programs, self.envs = title, note, rows, programs, envs


def megabytes(path):
    return os.path.getsize(path) / 1e6


SECTIONS = [
    Section('Profile of 1,000,000 events', 'XSpace, 29 MB; CPU seconds of whole processes, including arguments and the commit', [
        Ratio('import', 'import 1M', 'XProf create_events_db', 'xprof events db', 8),
        Ratio('import', 'import 1M', 'protobuf parse alone', 'protobuf parse', None),
        Limit('import, peak memory', 'import 1M', lambda: round(megabytes(work.xspace(1)) + 64), 'peak_mb', 'MB'),
        Limit('report of the store', 'report 1M', 1),
        Ratio('export as Chrome JSON', 'export profile', 'XProf trace_viewer', 'xprof trace_viewer', 20),
        Ratio('export as Chrome JSON, of the store', 'dump store', 'nlohmann dump alone', 'nlohmann dump', 10),
        Ratio('export for Perfetto, of the store', 'dump store for perfetto', 'our export as Chrome JSON', 'dump store', 1),
        Limit('export as Chrome JSON, of the store, findings and file', 'export store', None),
    ]),
    Section('Chrome trace of 1,800,000 events', 'JSON, 214 MB; seconds of whole processes; ours reads on one thread and makes rows '
            'on another, nlohmann uses one thread', [
        Ratio('import, by the clock', 'import chrome', 'nlohmann SAX parse alone', 'nlohmann sax', 4, 'wall_s'),
        Ratio('import, CPU', 'import chrome', 'nlohmann SAX parse alone', 'nlohmann sax', None),
        Ratio('import, CPU', 'import chrome', "Perfetto's import (wasm)", 'perfetto', 1),
        Limit('import, peak memory', 'import chrome', 300, 'peak_mb', 'MB'),
    ]),
    Section('Log of torch.compile', 'TORCH_TRACE of 159 compilations, 100 MB; whole processes, from the log to the report; tlparse writes '
            'the payloads to files and a page that links them', [
        Limit('report, by the clock', 'report torch trace', 1, 'wall_s'),
        Limit('report, peak memory', 'report torch trace', 100, 'peak_mb', 'MB'),
        Ratio('report, by the clock', 'report torch trace', 'tlparse', 'tlparse', 1, 'wall_s'),
        Ratio('report, CPU', 'report torch trace', 'tlparse', 'tlparse', 1),
        Ratio('report, peak memory', 'report torch trace', 'tlparse', 'tlparse', 1, 'peak_mb', 'MB'),
    ], ('xlaprof',)),
    Section('Questions about 10,000,000 events', "XSpace with nested calls; CPU ms of our one thread, and of each of DuckDB's two "
            "threads; the target is a third of DuckDB's speed", [
        Ratio('group by name', 'scan group_by_name', 'DuckDB', 'duckdb group_by_name', 1 / 3, 'cpu_s', 'ms'),
        Ratio('gaps of the device', 'scan gaps', 'DuckDB', 'duckdb gaps', 1 / 3, 'cpu_s', 'ms'),
        Ratio('what the host did in the gaps', 'scan overlap', 'DuckDB', 'duckdb overlap', 1 / 3, 'cpu_s', 'ms'),
        Limit('report of the store, peak memory', 'report nested', 500, 'peak_mb', 'MB'),
    ]),
    Section('Timeline in a browser', "wall-clock seconds until Debian's chromium, which renders in software, shows slices, and the peak "
            "memory of the page's process; 1,000,000 events unless a row says otherwise", [
        Limit('first picture of 10,000,000 events', 'first picture 10M', 2, 'wall_s'),
        Limit('memory of their page', 'first picture 10M', 300, 'peak_mb', 'MB'),
        Ratio('first picture', 'first picture', "XProf's trace_viewer@", 'xprof picture', 1, 'wall_s'),
        Ratio('first picture', 'first picture', "Perfetto's page", 'perfetto picture', 1, 'wall_s'),
        Ratio('memory of the page', 'first picture', "XProf's trace_viewer@", 'xprof picture', 1, 'peak_mb', 'MB'),
        Ratio('memory of the page', 'first picture', "Perfetto's page", 'perfetto picture', 1, 'peak_mb', 'MB'),
    ], ('xlaprof', 'generate_xspace')),
    Section('Recording', 'ns of the recorded thread, the minimum of 60 bursts; a ratio to a peer compares costs that are each '
            'divided by the cost of reading the clock', [
        Within('scope', 'scopes', 'scope_ns', 'two readings of the clock', lambda s: 2 * s['clock_ns'], 1.15),
        Said('scope, while nothing is recorded', 'scopes', 'off_ns', 'ns1', most=1),
        Within('counter', 'scopes', 'counter_ns', 'a reading of the clock', lambda s: s['clock_ns'], 1.2),
        Within('scope with a number', 'scopes', 'arg_ns', 'a scope', lambda s: s['scope_ns'], 1.3),
        Within('scope, on each of two threads', 'scopes', 'two_threads_ns', 'on one', lambda s: s['scope_ns'], 1.1),
        Beside('scope', 'scopes', 'scope_ns', 'Tracy, drained', 'tracy scopes'),
        Beside('scope with a number', 'scopes', 'arg_ns', 'Tracy, drained', 'tracy scopes'),
        Beside('scope', 'scopes', 'scope_ns', "Perfetto's SDK", 'perfetto scopes'),
        Beside('scope with a number', 'scopes', 'arg_ns', "Perfetto's SDK", 'perfetto scopes'),
        Beside('counter', 'scopes', 'counter_ns', "Perfetto's SDK", 'perfetto scopes'),
        Beside('scope', 'scopes', 'scope_ns', 'spdlog, asynchronous', 'spdlog scopes'),
        Beside('scope', 'scopes', 'scope_ns', 'mutex and vector', 'vector scopes'),
    ]),
    Section('From the rings to the store', 'three levels of scopes, a dozen names; costs of the writing thread, including the commit', [
        Said('events per CPU second, after bursts', 'bursts', 'million_events_a_cpu_s', 'M', least=20),
        Said('bytes per event', 'bursts', 'bytes_an_event', 'B', most=8),
        Said('five million events a second for 60 s: dropped', 'five million', 'dropped', 'count', most=0),
        Said('five million events a second for 60 s: share of a core', 'five million', 'core_percent', '%', most=30),
        Beside('durable append, CPU ns per event', 'bursts', 'ns_an_event', 'DuckDB, 64 Ki rows per commit', 'duckdb append', floor='one'),
    ]),
    Section('Lazy runtime', 'microseconds, medians of the repetitions in one process; each uses one thread for kernels; the peers are called '
            'from Python; MLP: 784-256-128-10, batch 64, SGD', [
        Said('recording an operation', 'lazy', 'record_us_an_op', 'us', most=0.1),
        Lazy('recording an operation', 'record_us_an_op', 'torch_xla'),
        Lazy('recording an operation', 'record_us_an_op', 'MLX'),
        Said('smallest cached step', 'lazy', 'smallest_step_us', 'us', most=25),
        Lazy('smallest cached step', 'smallest_step_us', 'torch_xla'),
        Lazy('smallest cached step', 'smallest_step_us', 'torch.compile'),
        Lazy('smallest cached step', 'smallest_step_us', 'jax'),
        Lazy('smallest cached step', 'smallest_step_us', 'MLX'),
        Said('item()', 'lazy', 'item_us', 'us', most=20),
        Lazy('item()', 'item_us', 'torch_xla'),
        Lazy('item()', 'item_us', 'torch.compile'),
        Lazy('item()', 'item_us', 'jax'),
        Lazy('item()', 'item_us', 'MLX'),
        Lazy('MLP training step', 'mlp_step_us', 'torch eager', 1),
        Lazy('MLP training step', 'mlp_step_us', 'torch_xla'),
        Lazy('MLP training step', 'mlp_step_us', 'torch.compile'),
        Lazy('MLP training step', 'mlp_step_us', 'jax'),
        Lazy('MLP training step', 'mlp_step_us', 'MLX'),
        Within('MLP training step, recorded', 'lazy recorded', 'recorded_mlp_step_us', 'every second step not recorded',
               lambda s: s['mlp_step_us'], 1.03, 'us'),
    ], ('lazy_bench',), ('torch', 'jax', 'mlx')),
    Section('Lazy runtime on XLA', "microseconds, medians of the repetitions in one process, whose steps alternate; XLA is xla-cpu-pjrt 0.0.1; the peer's "
            'program is the same StableHLO, and its calls are the least that PJRT allows; MLP as above; convolutional network: that of examples/mnist, '
            'batch 64, SGD with momentum', [
        *(Within(f'{what}{how}', 'lazy on XLA', f'{field}_{loop}_us', 'bare calls of PJRT', lambda s, name=f'bare_{field}_{loop}_us': s[name],
                 1.1, 'us')
          for what, field in (('MLP training step', 'mlp'), ('convolutional training step', 'conv'))
          for how, loop in ((', recorded while the last one runs', 'row'), (', waited for', 'step'))),
        Said('smallest cached step', 'lazy on XLA', 'smallest_step_us', 'us', most=25),
        Said('item()', 'lazy on XLA', 'item_us', 'us', most=20),
    ], ('pjrt_bench',), ('pjrt',)),
    Section('Cost of one event as profiles grow', 'CPU ns per event, and peak memory', [
        PerEvent(f'{what} of {m} M', what, m) for what in ('import', 'report', 'export') for m in work.SIZES_M
    ]),
]
HEADS = ['what', 'ours', 'peer', 'ratio', 'target', '']


def text(sections, samples, failed, rounds, markdown):
    lines, blocks = [], []
    for section in sections:
        rows = []
        for row in section.rows:
            # These are the rounds in which all of the row's programs ran.
            whole = set.intersection(*(set(samples[name]) for name in row.tasks()))
            if not whole:
                broken = [f'{name}: {failed[name]}' for name in row.tasks() if name in failed]
                rows.append([row.what, 'not measured', broken[0], '', '', ''])
            else:
                *cells, met = row.cells({name: [samples[name][number] for number in sorted(whole)] for name in row.tasks()})
                rows.append([*cells, '' if met is None else 'met' if met else 'MISSED'])
        blocks.append((section, rows))
    widths = [max(len(r[i]) for _, rows in blocks for r in [HEADS, *rows]) for i in range(len(HEADS))]
    for section, rows in blocks:
        if markdown:
            lines += ['', f'### {section.title}', '', section.note + '.', '', '| ' + ' | '.join(HEADS) + ' |', '| --- ' * len(HEADS) + '|']
            lines += ['| ' + ' | '.join(r) + ' |' for r in rows]
        else:
            lines += ['', f'{section.title} ({section.note})']
            lines += ['  ' + '  '.join(c.ljust(w) for c, w in zip(r, widths)).rstrip() for r in rows]
    with open('/proc/cpuinfo', encoding='utf-8') as info:
        cpu = next((line.split(':', 1)[1].strip() for line in info if line.startswith('model name')), 'unknown CPU')
    lines += [''] + [f'{name} failed in {rounds - len(samples[name])} of the rounds: {why}' for name, why in failed.items()]
    lines += ['', f'{rounds} rounds, medians (least to most); {os.cpu_count()} x {cpu}, load {os.getloadavg()[1]:.1f}.']
    return '\n'.join(lines).strip('\n')
