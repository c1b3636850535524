// Compares the answers of an embedded source with a simple computation over the events that were
// written.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LaneLevels } from '../src/levels.ts';
import type { Totals } from '../src/source.ts';
import { type Slice, sourceOf } from './encode.ts';
import { makeTraining } from './training.ts';

const training = makeTraining({ events: 4000 });
const source = await sourceOf(training.data);

const clip = (slice: Slice, from: number, to: number) =>
  Math.min(slice.ts + slice.dur, to) - Math.max(slice.ts, from);

// Computes totals as docs/formats/view.md defines them, by comparing every event with every other.
function plainTotals(
  lanes: number[],
  from: number,
  to: number,
): Map<string, Omit<Totals, 'name' | 'category'>> {
  const byName = new Map<string, { inside: number; nested: number }[]>();
  for (const { id, rows } of training.lanes) {
    if (!lanes.includes(id)) continue;
    rows.forEach((row, depth) => {
      for (const slice of row) {
        if (slice.ts >= to || slice.ts + slice.dur <= from) continue;
        const nested = (rows[depth + 1] ?? [])
          .filter((child) => child.ts >= slice.ts && child.ts + child.dur <= slice.ts + slice.dur)
          .reduce((sum, child) => sum + Math.max(0, clip(child, from, to)), 0);
        const name = training.texts.get(slice.name)!;
        byName.set(name, [...(byName.get(name) ?? []), { inside: clip(slice, from, to), nested }]);
      }
    });
  }
  return new Map(
    [...byName].map(([name, parts]) => {
      const lengths = parts.map((part) => part.inside).sort((a, b) => a - b);
      const total = lengths.reduce((a, b) => a + b, 0);
      const nested = parts.reduce((sum, part) => sum + part.nested, 0);
      return [
        name,
        {
          count: parts.length,
          total_ns: total,
          self_ns: total - nested,
          mean_ns: total / parts.length,
          p99_ns: lengths[Math.ceil(0.99 * lengths.length) - 1],
          max_ns: lengths[lengths.length - 1],
        },
      ];
    }),
  );
}

for (const [from, to] of [
  [0, 1e12],
  [12e6, 900e6],
  [1.1e9, 1.1e9 + 20e6],
]) {
  test(`totals from ${from} to ${to}`, async () => {
    const lanes = [1, 2, 4];
    const expected = plainTotals(lanes, from, to);
    const { rows, left_out } = await source.range(lanes, from, to);
    assert.equal(left_out, 0);
    assert.equal(rows.length, expected.size);
    assert.ok(rows.length > 0);
    for (const { name, category: _, ...totals } of rows)
      assert.deepEqual(totals, expected.get(name), name);
    const sorted = [...rows].sort((a, b) => b.total_ns - a.total_ns).map((row) => row.total_ns);
    assert.deepEqual(
      rows.map((row) => row.total_ns),
      sorted,
    );
  });
}

test('an event has its arguments, both ends of its flow and the totals of its name', async () => {
  const launches = training.lanes[0].rows[1].filter(
    (slice) => training.texts.get(slice.name) === 'ExecuteComputation',
  );
  const event = (await source.event(launches[3].id))!;
  assert.equal(event.name, 'ExecuteComputation');
  assert.deepEqual(
    [event.lane, event.row, event.ts_ns, event.dur_ns],
    [1, 1, launches[3].ts, launches[3].dur],
  );
  assert.deepEqual(event.arguments, [
    ['graph', '3f2a0003', 'string'],
    ['inputs', '212', 'int'],
    ['bytes', '18446744073709551615', 'uint'],
  ]);
  assert.equal(event.totals!.count, 20);
  assert.equal(
    event.totals!.total_ns,
    launches.reduce((sum, slice) => sum + slice.dur, 0),
  );
  assert.deepEqual(
    event.flows.map((flow) => [flow.direction, flow.event.lane]),
    [['out', 3]],
  );
  const module = (await source.event(event.flows[0].event.id))!;
  assert.deepEqual(
    module.flows.map((flow) => [flow.direction, flow.event.id]),
    [['in', event.id]],
  );
  await assert.rejects(source.event(10 ** 9), /no event/);
});

test('search goes through all matches in order, and around', async () => {
  const expected = training.lanes
    .flatMap((lane) => lane.rows.flat())
    .filter((slice) => training.texts.get(slice.name)!.toLowerCase().includes('conv'))
    .sort((a, b) => a.ts - b.ts || a.id - b.id)
    .map((slice) => slice.id);
  assert.ok(expected.length > 3);
  const walk = async (direction: 'next' | 'previous', order: number[]) => {
    let at = { ts: direction === 'next' ? -1 : 1e15, id: 0 };
    for (const id of [...order, order[0]]) {
      const found = await source.search({ text: 'CONV', direction, ...at });
      assert.equal(found.event!.id, id);
      assert.equal(found.count, expected.length);
      assert.equal(found.index, expected.indexOf(id));
      at = { ts: found.event!.ts_ns, id };
    }
  };
  await walk('next', expected);
  await walk('previous', [...expected].reverse());
  assert.deepEqual(await source.search({ text: 'no such name', direction: 'next', ts: 0, id: 0 }), {
    count: 0,
    index: null,
    names: [],
    event: null,
  });
});

test('coarser levels keep every event, the longest name, and what is long', async () => {
  const many = await sourceOf(makeTraining({ events: 60_000 }).data);
  const [whole] = await many.slices({ lanes: [1], from: 0, to: 1, resolution: 0 });
  const cell = 4 ** 11; // 4.2 ms
  const part = new LaneLevels(whole).at(cell * 2);
  assert.equal(part.resolution, cell);
  whole.rows.forEach((row, depth) => {
    const merged = part.rows[depth];
    const sum = (values: Uint32Array) => values.reduce((a, b) => a + b, 0);
    assert.equal(sum(merged.count), sum(row.count));
    for (let i = 0; i < merged.ts.length; ++i) {
      const inside = [...row.ts.keys()].filter(
        (j) => row.ts[j] >= merged.ts[i] && row.ts[j] < merged.ts[i] + Math.max(1, merged.dur[i]),
      );
      assert.equal(inside.length, merged.count[i]);
      const longest = Math.max(...inside.map((j) => row.dur[j]));
      assert.equal(row.dur[[...row.id].indexOf(merged.id[i])], longest);
      if (merged.count[i] > 1) assert.ok(longest < cell);
    }
    if (row.ts.length > 4096) assert.ok(merged.ts.length < row.ts.length / 10);
  });
});
