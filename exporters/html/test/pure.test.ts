// Tests axis, links, colours, texts and bands.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { around, bounded, Scale, ticksOf, zoomed } from '../src/axis.ts';
import { type Band, between, fullName, kMostRows, scrolledBands, sizesFor } from '../src/bands.ts';
import { fillsFor, hueOf, kHues } from '../src/colours.ts';
import { fromHash, hashOf } from '../src/hash.ts';
import { laneOf, placed, placesOf } from '../src/marks.ts';
import { densityAt } from '../src/paint_marks.ts';
import { contrast } from '../src/oklch.ts';
import { toldRow } from '../src/reason.tsx';
import { ranked, type ReasonRow, type Run } from '../src/run.ts';
import { binsOf, idleOf, meanParts, scaleOf, steadyIdle } from '../src/step_bins.ts';
import { count, duration, exactTime, percent, printable, prose, quantity } from '../src/text.ts';
import { kInitial } from '../src/state.ts';
import { makeTraining } from './training.ts';

test('durations are as the report prints them', () => {
  const said: [number, string][] = [
    [0, '0'],
    [1, '1 ns'],
    [999, '999 ns'],
    [1000, '1 µs'],
    [682_000, '682 µs'],
    [60_500_000, '60.5 ms'],
    [999_600_000, '1 s'],
    [1_640_000_000, '1.64 s'],
    [125e9, '125 s'],
    [-2e6, '-2 ms'],
  ];
  for (const [ns, text] of said) assert.equal(duration(ns), text);
});

// Regression: a page said "1.10e+3 % of the mean".
test('percentages have no exponent', () => {
  assert.deepEqual([0, 1e-9, 0.0012, 0.0857, 0.634, 0.9999, 1, 10.99, 1e6].map(percent), [
    '0 %',
    '< 0.01 %',
    '0.12 %',
    '8.6 %',
    '63.4 %',
    '100 %',
    '100 %',
    '1,099 %',
    '100,000,000 %',
  ]);
});

test('exact times, counts and quantities', () => {
  assert.equal(exactTime(1_234_567_890), '1.234\u202f567\u202f89 s');
  assert.equal(exactTime(-500), '-500 ns');
  assert.equal(exactTime(5_000_000), '5 ms');
  assert.equal(count(449936), '449,936');
  assert.equal(quantity(1_409_000_000), '1.409 G');
  assert.equal(quantity(9.99e15), '9990 T');
  assert.equal(quantity(2 ** 63), '9.223e+18');
  assert.equal(quantity(0.25), '0.25');
  assert.equal(percent(0.0461), '4.6 %');
  assert.equal(
    prose('idle 839 us; gap of 69.4 us, 12 uses'),
    'idle 839 µs; gap of 69.4 µs, 12 uses',
  );
});

test('no name ends a line, turns the direction or is endless', () => {
  assert.equal(printable('a\nb\u202ec\u0000'), 'a\u240ab\ufffdc\u2400');
  assert.ok(printable('x'.repeat(1_000_000)).length < 5000);
});

test('zoom keeps the time under the pointer', () => {
  const window = { from: 1000, to: 3000 };
  const at = 1500;
  const before = new Scale(window.from, window.to, 800).x(at);
  const after = zoomed(window, 0.5, at);
  assert.equal(new Scale(after.from, after.to, 800).x(at), before);
  assert.equal(after.to - after.from, 1000);
});

test('a window stays at the run, and wide enough', () => {
  const end = 1e9;
  assert.deepEqual(bounded({ from: 5e9, to: 6e9 }, end), { from: 0.5e9, to: 1.5e9 });
  const narrow = bounded(around(500, 0), end);
  assert.ok(narrow.to - narrow.from >= 20);
  const wide = bounded({ from: -1e12, to: 1e12 }, end);
  assert.equal(wide.to - wide.from, 1.5e9);
});

test('ticks are round, apart, and say their digits once', () => {
  const ticks = ticksOf(new Scale(0, 3.2e9, 1000), 100);
  assert.deepEqual(ticks.labels.slice(0, 3), ['0', '500 ms', '1 s']);
  const deep = ticksOf(new Scale(1_234_567_000, 1_234_567_900, 1000), 100);
  assert.equal(deep.base, '1.234\u202f56 s');
  assert.ok(deep.labels.every((label) => label.startsWith('+')));
  assert.ok(deep.times.every((time, i) => i === 0 || time - deep.times[i - 1] === 100));
});

test('a link says what the view was', () => {
  const state = {
    ...kInitial,
    from: -12,
    to: 5_000_000_000,
    scroll: 3.5,
    finding: 2,
    event: 77,
    range: { from: 5, to: 9, lanes: [3, 4] },
    flags: [
      { from: 1, to: 1 },
      { from: 4, to: 8 },
    ],
    query: 'a&b=c#%',
    found: { event: { ts_ns: 8, id: 4 } },
    pinned: [9],
    folded: ['p1', '4'],
    deep: [3],
    filter: '/a&b=/',
    panel: 'range' as const,
  };
  const { from, to, scroll, finding, event, range, flags, query, pinned, folded, deep } = state;
  const { filter, panel } = state;
  assert.deepEqual(fromHash(hashOf(state)), {
    from,
    to,
    scroll,
    finding,
    event,
    range,
    flags,
    query,
    found: { ts_ns: 8, id: 4 },
    pinned,
    folded,
    deep,
    filter,
    panel,
  });
});

test('a link that makes no sense is harmless', () => {
  for (const hash of [
    '',
    '#',
    '#v=1',
    '#v=9,1',
    '#v=a,b&q=%zz&f=x&r=1&m=;;',
    '#&&==',
    '#v=NaN,Infinity',
  ])
    assert.deepEqual(fromHash(hash), {
      query: '',
      pinned: [],
      folded: [],
      deep: [],
      filter: '',
      ...(hash.includes('m=') && { flags: [] }),
    });
});

test('every name can be read on its colour', () => {
  for (const dark of [false, true]) {
    const { text, fills } = fillsFor(dark);
    assert.equal(fills.length, kHues);
    for (const fill of fills) assert.ok(contrast(text, fill) >= 5);
  }
});

test('colours depend on the name alone, not on its number', () => {
  assert.equal(hueOf('fusion.12'), hueOf('fusion.137'));
  assert.equal(hueOf('aten::mul'), 33); // this one must never change
  assert.ok(new Set(['dot', 'add', 'mul', 'copy', 'relu', 'view'].map(hueOf)).size > 3);
});

const { run } = makeTraining();

test('bars are of at most as many as there is room for, and keep all the time', () => {
  const all = run.steps.map((_, i) => i);
  const one = binsOf(run, all, 1000);
  assert.equal(one.length, 20);
  const few = binsOf(run, all, 6);
  assert.equal(few.length, 5);
  const sum = (bins: typeof few) => bins.reduce((sum, bin) => sum + bin.mean * bin.steps, 0);
  assert.ok(Math.abs(sum(few) - sum(one)) < 1);
  assert.equal(scaleOf(one), Math.max(...run.steps.slice(2).map((step) => step.dur_ns!)));
  const parts = meanParts(run, 1);
  assert.ok(Math.abs(parts.reduce((sum, { part }) => sum + part, 0) - 1) < 1e-9);
});

test('a folded process or device hides its lanes; a pinned lane is not there twice', () => {
  const sizes = sizesFor(13);
  const keys = (folded: string[], pinned: number[]) =>
    scrolledBands(run, { folded, pinned, deep: [], filter: '', markRows: 1 }, sizes).bands.map(
      (band) => band.key,
    );
  assert.deepEqual(keys([], []), ['p1', 's1', 'd3', '3', '4', '1', '2', '5', '6', 'p2', '7']);
  assert.deepEqual(keys(['d3'], []), ['p1', 's1', 'd3', '1', '2', '5', '6', 'p2', '7']);
  assert.deepEqual(keys(['p1'], [7]), ['p1']);
  const { bands, height } = scrolledBands(
    run,
    { folded: [], pinned: [], deep: [], filter: '', markRows: 1 },
    sizes,
  );
  assert.equal(bands[bands.length - 1].top + bands[bands.length - 1].height, height);
  assert.deepEqual(
    between(bands, bands[2].top, bands[2].top + 1).map((band) => band.key),
    ['d3'],
  );
});

// In an earlier version, four chips in one process had four lanes called XLA Ops, and nothing
// showed which lane was whose.
test('each device has a band of its own, unless its lanes name it', () => {
  const [host, , ops] = run.lanes;
  const lane = (id: number, device: string, name = ops.name) => ({ ...ops, id, device, name });
  const chips = {
    ...run,
    lanes: [host, lane(2, 'TPU:0'), lane(3, 'TPU:1'), lane(4, 'TPU:0'), lane(5, 'CPU:0', 'CPU:0')],
  };
  const arrangement = { folded: [], pinned: [2], deep: [], filter: '', markRows: 0 };
  const { bands } = scrolledBands(chips, arrangement, sizesFor(13));
  const shown = bands.slice(2).map((band) => (band.type === 'device' ? band.device : band.key));
  assert.deepEqual(shown, ['TPU:0', '4', 'TPU:1', '3', '5', '1']);
  assert.equal(bands[2].key, 'd2', 'whatever is pinned');
  assert.equal(fullName(chips.lanes[2]), 'TPU:1 · XLA Modules');
  assert.equal(fullName(chips.lanes[4]), 'CPU:0');
});

// Returns a run with one device and `threads` threads, of which all but two have few events.
function withThreads(threads: number): Run {
  const [host, , ops] = run.lanes;
  const events = (i: number) => (i < 2 ? 5000 : i % 4);
  const lanes = Array.from({ length: threads }, (_, i) => ({
    ...host,
    id: 10 + i,
    name: `worker/${i}`,
    events: events(i),
  }));
  return { ...run, steps: [], lanes: [...lanes, { ...ops, id: 9, device: 'TPU:0' }] };
}

const shownKeys = (of: Run, part: { folded?: string[]; pinned?: number[]; filter?: string }) =>
  scrolledBands(
    of,
    { folded: [], pinned: [], deep: [], filter: '', markRows: 0, ...part },
    sizesFor(13),
  ).bands.map((band) => (band.type === 'idle' ? `${band.threads} more` : band.key));

// Regression: the first TPU lane of a capture was 6,480 pixels below 117 threads, of which 90 had
// less than 20 events.
test('devices stand above threads, and idle threads are one line that opens', () => {
  const many = withThreads(92);
  assert.deepEqual(shownKeys(many, {}), ['p1', 'd9', '9', '10', '11', '90 more']);
  assert.equal(shownKeys(many, { folded: ['i1'] }).length, 6 + 90);
  assert.deepEqual(
    shownKeys(many, { pinned: [12] }),
    ['p1', 'd9', '9', '10', '11', '89 more'],
    'a pinned thread is not hidden',
  );
  assert.equal(shownKeys(withThreads(6), {}).includes('4 more'), false, 'four lanes are no crowd');
});

test('processes with devices come first', () => {
  const [host, , ops] = run.lanes;
  const lanes = [
    { ...host, process: 1 },
    { ...ops, process: 2 },
  ];
  assert.deepEqual(
    shownKeys({ ...run, steps: [], lanes }, {}).filter((key) => key.startsWith('p')),
    ['p2', 'p1'],
  );
});

test('lanes are filtered by a part of their name, or a pattern', () => {
  const many = withThreads(92);
  assert.deepEqual(shownKeys(many, { filter: 'TPU' }), ['p1', 'd9', '9']);
  assert.deepEqual(shownKeys(many, { filter: 'ER/45' }), ['p1', '55'], 'idle threads, too');
  assert.deepEqual(shownKeys(many, { filter: '/^worker.[01]$|tpu/' }), [
    'p1',
    'd9',
    '9',
    '10',
    '11',
  ]);
  assert.deepEqual(shownKeys(many, { filter: '/(/' }), [], 'an incomplete pattern is a text');
  assert.equal(shownKeys(many, { filter: 'train.py' }).length, 2 + 93, 'the name of its process');
});

test('every lane has a label', () => {
  const [host] = run.lanes;
  assert.equal(fullName({ ...host, id: 5, name: ' ' }), 'unnamed thread 5');
  assert.equal(fullName({ ...host, name: '', device: 'TPU:0' }), 'TPU:0 · unnamed thread 1');
});

test('a deep lane shows its first rows until it is asked for all', () => {
  const sizes = sizesFor(13);
  const [lane] = run.lanes;
  const nested = { ...run, lanes: [{ ...lane, rows: kMostRows + 5 }] };
  const band = (deep: number[], folded: string[]) => {
    const { bands } = scrolledBands(
      nested,
      { folded, pinned: [], deep, filter: '', markRows: 0 },
      sizes,
    );
    return bands[bands.length - 1] as Band & { type: 'lane' };
  };
  assert.equal(band([], []).hiddenRows, 5);
  assert.equal(band([lane.id], []).hiddenRows, 0);
  assert.equal(band([lane.id], []).height - band([], []).height, 5 * sizes.row);
  assert.equal(band([], [String(lane.id)]).height, sizes.row + sizes.gap);
});

// An earlier version opened inside a fused computation, in which each parameter follows from the
// input that changed.
test('two graphs open at the row that the finding tells', () => {
  const rows: ReasonRow[] = [
    ['%p = parameter f32[128,64]', '%p = parameter f32[96,64]', 1, null],
    ['%b = broadcast f32[128,10]', '%b = broadcast f32[96,10]', 2, null],
    [null, null, 0, 7],
    ['%x.1 = parameter f32[128,64]', '%x.1 = parameter f32[96,64]', 2, null],
    ['%y.1 = parameter s32[128]', null, 2, null],
  ];
  const told = {
    type: 'shape_change',
    state: null,
    step: null,
    node: 'parameter',
    before: 'f32[128,64]',
    after: 'f32[96,64]',
    location: null,
    text: null,
  };
  assert.equal(toldRow(rows, told), 3);
  assert.equal(toldRow(rows, { ...told, before: 's32[128]', after: null }), 4);
  assert.equal(toldRow(rows, { ...told, before: 'of no row' }), 1, 'where it began');
  assert.equal(toldRow(rows.slice(0, 1), null), 0);
  assert.equal(toldRow(rows.slice(2, 3), told), -1);
});

// In an earlier version, the first two of four places were copies of 4 ns, although the others took
// 0.3 s.
test('places come longest first, without those that are far shorter', () => {
  const places = (lengths: number[]) => {
    const marks = lengths.map((dur_ns, i) => ({
      finding: 0,
      ts_ns: 1e9 * i,
      dur_ns,
      lane: null,
      text: '',
    }));
    const shown = placed({ ...run, marks }).marks;
    return placesOf(shown, 0).map((mark) => mark.dur_ns);
  };
  assert.deepEqual(places([4, 288e6, 4, 391e6]), [391e6, 288e6]);
  assert.deepEqual(places([0, 0]), [0, 0]);
  assert.deepEqual(places([]), []);
});

test('a device’s finding without a lane is about the device that it names', () => {
  const [ops] = run.lanes.filter(({ device }) => device !== null);
  const lanes = ['TPU:1', 'TPU:10'].map((device, id) => ({ ...ops, id, device }));
  const [finding] = run.report.findings;
  const told = { ...finding, kind: 'device_gap', title: 'TPU:10 idle 13.8 s' };
  const about = { ...run, lanes, report: { ...run.report, findings: [told] } };
  const { marks } = placed({ ...about, marks: [{ ...run.marks[0], lane: null }] });
  const [mark] = marks;
  assert.equal(laneOf(about, mark), 1);
  assert.equal(laneOf(about, { ...mark, lane: 7 }), 7);
});

test('idle devices are beside the parts, and what is not known is in no mean', () => {
  const steps = run.steps.slice(0, 4).map((step) => ({ ...step, dur_ns: 100, warm_up: false }));
  const idle = (...devices: (number | null)[][]) => {
    const of = devices.map((idle_ns, i) => ({
      process: 1,
      name: `TPU:${i}`,
      idle_ns,
      steady_ns: 0,
      steady_idle_ns: 0,
    }));
    return idleOf({ ...run, steps, devices: of }, [0, 1, 2, 3]);
  };
  assert.equal(idle(), null);
  assert.equal(idle([null, null, null, null]), null);
  assert.deepEqual(idle([null, 20, 40, null]), { of: 'TPU:0', ns: 30, part: 0.3 });
  assert.deepEqual(idle([0, 0, 0, 0], [100, 100, 100, 100]), {
    of: '2 devices',
    ns: 50,
    part: 0.5,
  });
});

// Regression: the strip said that a device was idle for 0 % of the steps, beside a finding that said
// 8.5 % of the steady time, because the device idled between the steps.
test('the strip takes idle time from the time that findings take it from', () => {
  const steps = run.steps.slice(0, 2).map((step) => ({ ...step, dur_ns: 100, warm_up: false }));
  const device = {
    process: 1,
    name: 'TPU:0',
    idle_ns: [0, 10],
    steady_ns: 400,
    steady_idle_ns: 90,
  };
  const told = (devices: Run['devices']) => steadyIdle({ ...run, steps, devices }, 1);
  assert.deepEqual(told([device]), { of: 'TPU:0', part: 0.225, inSteps: 0.05 });
  assert.deepEqual(told([{ ...device, process: 2, idle_ns: [null, null] }]), null);
});

// Regression: a finding of 2,475 gaps marked only the first 8, and the rest of the lane was empty.
test('a finding with more occurrences than marks has a row that shows where they lie', () => {
  const density = { finding: 1, begins_ns: [0, 100, 200], end_ns: 400, ns: [50, 0, 20] };
  const { marks, densities } = placed({ ...run, densities: [density] });
  const [{ row, parts, most }] = densities;
  assert.deepEqual(
    parts.map(({ from, to, share }) => [from, to, share]),
    [
      [0, 100, 0.5],
      [100, 200, 0],
      [200, 400, 0.1],
    ],
  );
  assert.equal(most, 0.5);
  assert.ok(marks.filter(({ finding }) => finding === 1).every((mark) => mark.row === row));
  assert.deepEqual(densityAt(densities, row, 250), { finding: 1, ...parts[2] });
  assert.equal(densityAt(densities, row, 150), null);
});

test('findings have those that follow from them below, and info roots come last', () => {
  const [first] = run.report.findings;
  const make = (fingerprint: string, because_of: string | null, severity: 'warning' | 'info') => ({
    ...first,
    fingerprint,
    because_of,
    severity,
  });
  const findings = [
    make('mask', null, 'warning'),
    make('sizes', 'mask', 'warning'),
    make('gap', 'sizes', 'info'),
    make('start', null, 'info'),
    make('left', 'not in the report', 'warning'),
  ];
  const leaf = (index: number) => ({ index, consequences: [] });
  assert.deepEqual(ranked(findings), {
    toFix: [{ index: 0, consequences: [{ index: 1, consequences: [leaf(2)] }] }, leaf(4)],
    seen: [leaf(3)],
  });
});
