"""The table of bench/run: which figures stand in it, and how they are printed."""
import os

import work
from measure import Spread


class Ratio:
    """One of our figures and a peer's of the same round; the ratio says how many times less ours is. `want`: at least that
    ratio, None where it is shown for its own sake."""

    def __init__(self, what, ours, peer, peer_task, want, field='cpu_s', unit='s'):
        self.what, self.ours, self.peer, self.peer_task, self.want = what, ours, peer, peer_task, want
        self.field, self.unit = field, unit

    def tasks(self):
        return [self.ours, self.peer_task]

    def cells(self, samples):
        scale = {'s': 1, 'ms': 1e3}[self.unit]
        ours = [getattr(s, self.field) * scale for s in samples[self.ours]]
        theirs = [getattr(s, self.field) * scale for s in samples[self.peer_task]]
        ratio = Spread([b / a for a, b in zip(ours, theirs)])
        target = '' if self.want is None else f'at least {self.want:.2g}x'
        met = None if self.want is None else ratio.median >= self.want
        return [self.what, Spread(ours).text(self.unit), f'{self.peer}: {Spread(theirs).text(self.unit)}', f'{ratio.median:.1f}x',
                target, met]


class Limit:
    """One of our figures and the most that it may be; `most` may be a function, or None where it is shown for its own sake."""

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
    """One of our figures over the number of events, and how it compares with that of the smallest input: 1 is linear."""

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


class Section:
    def __init__(self, title, note, rows):
        self.title, self.note, self.rows = title, note, rows


def megabytes(path):
    return os.path.getsize(path) / 1e6


SECTIONS = [
    Section('Profile of 1,000,000 events', 'XSpace, 29 MB; CPU seconds of whole processes, arguments included, committed', [
        Ratio('import', 'import 1M', 'XProf create_events_db', 'xprof events db', 8),
        Ratio('import', 'import 1M', 'protobuf parse alone', 'protobuf parse', None),
        Limit('import, peak memory', 'import 1M', lambda: round(megabytes(work.xspace(1)) + 64), 'peak_mb', 'MB'),
        Limit('report of the store', 'report 1M', 1),
        Ratio('export as Chrome JSON', 'export profile', 'XProf trace_viewer', 'xprof trace_viewer', 20),
        Ratio('export as Chrome JSON, of the store', 'dump store', 'nlohmann dump alone', 'nlohmann dump', 10),
        Limit('export as Chrome JSON, of the store, findings and file', 'export store', None),
    ]),
    Section('Chrome trace of 1,800,000 events', 'JSON, 214 MB; CPU seconds of whole processes', [
        Ratio('import', 'import chrome', 'nlohmann SAX parse alone', 'nlohmann sax', 4),
        Ratio('import', 'import chrome', "Perfetto's import (wasm)", 'perfetto', 1),
        Limit('import, peak memory', 'import chrome', 300, 'peak_mb', 'MB'),
    ]),
    Section('Questions to 10,000,000 events', 'XSpace with nested calls; CPU ms of one thread of ours and of each of two of '
            'DuckDB; a third of its speed is enough', [
        Ratio('group by name', 'scan group_by_name', 'DuckDB', 'duckdb group_by_name', 1 / 3, 'cpu_s', 'ms'),
        Ratio('gaps of the device', 'scan gaps', 'DuckDB', 'duckdb gaps', 1 / 3, 'cpu_s', 'ms'),
        Ratio('what the host did in the gaps', 'scan overlap', 'DuckDB', 'duckdb overlap', 1 / 3, 'cpu_s', 'ms'),
        Limit('report of the store, peak memory', 'report nested', 500, 'peak_mb', 'MB'),
    ]),
    Section('Cost of one event as profiles grow', 'ns of CPU an event, and peak memory', [
        PerEvent(f'{what} of {m} M', what, m) for what in ('import', 'report', 'export') for m in work.SIZES_M
    ]),
]
HEADS = ['what', 'ours', 'peer', 'ratio', 'target', '']


def text(sections, samples, failed, rounds, markdown):
    lines, blocks = [], []
    for section in sections:
        rows = []
        for row in section.rows:
            broken = [f'{name}: {failed[name]}' for name in row.tasks() if name in failed]
            if broken:
                rows.append([row.what, 'not measured', broken[0], '', '', ''])
            else:
                *cells, met = row.cells(samples)
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
    lines += ['', f'{rounds} rounds, medians (least to most); {os.cpu_count()} x {cpu}, load {os.getloadavg()[1]:.1f}.']
    return '\n'.join(lines).strip('\n')
