// Regression: a page on disk with more events than it can hold summed its merged slices as if each
// were one event. It said too small counts and totals, and maxima many times too large.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { launch, open, settled, writeFile } from './browser.ts';
import {
  type Data,
  encodeSlices,
  encodeTotals,
  type LaneEvents,
  type NameFigures,
  type Slice,
  sourceOf,
} from './encode.ts';
import { makeTraining } from './training.ts';

const kLane = 1;
const kBelow = 2 ** 20; // ns; about a millisecond

const training = makeTraining({ events: 8000 });
const lane = training.lanes.find(({ id }) => id === kLane)!;
const figures = figuresOf(lane);
const data = mergedData();
const source = await sourceOf(data);

// Sums the events of a lane by name, by comparing every event with those one row below.
function figuresOf({ rows }: LaneEvents): NameFigures[] {
  const durations = new Map<number, number[]>();
  const nested = new Map<number, number>();
  rows.forEach((row, depth) => {
    for (const { ts, dur, name } of row) {
      durations.set(name, [...(durations.get(name) ?? []), dur]);
      const children = (rows[depth + 1] ?? []).filter(
        (child) => child.ts >= ts && child.ts + child.dur <= ts + dur,
      );
      const inside = children.reduce((sum, child) => sum + child.dur, 0);
      nested.set(name, (nested.get(name) ?? 0) + inside);
    }
  });
  return [...durations].map(([name, all]) => {
    const sorted = all.sort((a, b) => a - b);
    const total = sorted.reduce((a, b) => a + b, 0);
    const p99 = sorted[Math.ceil(sorted.length * 0.99) - 1];
    const self = total - nested.get(name)!;
    return { name, count: sorted.length, total, p99, max: sorted.at(-1)!, self };
  });
}

// Merges the slices of a row as the exporter does.
function mergedRow(row: Slice[]): Slice[] {
  const out: (Slice & { longest: number })[] = [];
  let cell = -1;
  for (const slice of row) {
    const own = slice.dur < kBelow ? Math.floor(slice.ts / kBelow) : -1;
    const last = out.at(-1);
    if (own >= 0 && own === cell && last !== undefined) {
      if (slice.dur > last.longest) Object.assign(last, { name: slice.name, id: slice.id });
      last.longest = Math.max(last.longest, slice.dur);
      last.dur = slice.ts + slice.dur - last.ts;
      last.count = last.count! + 1;
    } else out.push({ ...slice, count: 1, longest: slice.dur });
    cell = own;
  }
  return out;
}

function mergedData(): Data {
  const merged = { ...lane, rows: lane.rows.map(mergedRow), resolution: kBelow };
  const lanes = training.lanes.map((other) => (other === lane ? merged : other));
  return {
    ...training.data,
    slices: encodeSlices(lanes, training.run.span.end_ns, training.texts),
    totals: encodeTotals(new Map([[kLane, figures]]), training.texts),
  };
}

const merged = mergedRow(lane.rows[3]).find(({ count }) => count! > 5)!;
const ofName = figures.find(({ name }) => name === merged.name)!;

test('a merged slice says how many events it stands for, and their name’s true totals', async () => {
  const event = await source.event(merged.id);
  assert.equal(event.merged, merged.count);
  assert.deepEqual(
    [event.totals!.count, event.totals!.total_ns, event.totals!.max_ns, event.totals!.p99_ns],
    [ofName.count, ofName.total, ofName.max, ofName.p99],
  );
  assert.ok(merged.dur > 2 * ofName.max, 'the slice is longer than any event of the name');
});

test('a range over the whole run has the totals of all events', async () => {
  const { rows, merged } = await source.range([kLane], -1, training.run.span.end_ns + 1);
  assert.equal(merged, undefined);
  assert.equal(rows.length, figures.length);
  for (const { name, total, self, ...rest } of figures) {
    const row = rows.find((row) => row.name === training.texts.get(name))!;
    assert.deepEqual(
      [row.count, row.total_ns, row.self_ns, row.p99_ns, row.max_ns],
      [rest.count, total, self, rest.p99, rest.max],
    );
  }
});

test('a part of the run sums only events that have a slice each, and says how many have none', async () => {
  const [from, to] = [training.run.steps[3].ts_ns!, training.run.steps[6].ts_ns!];
  const { rows, merged } = await source.range([kLane], from, to);
  const inside = lane.rows.flat().filter(({ ts, dur }) => ts < to && ts + dur > from);
  const long = inside.filter(({ dur }) => dur >= kBelow);
  assert.equal(
    rows.reduce((sum, row) => sum + row.count, 0),
    long.length,
  );
  assert.ok(long.length > 0 && rows.every(({ max_ns }) => max_ns >= 0));
  assert.equal(merged!.below, kBelow);
  const short = inside.length - long.length;
  assert.ok(Math.abs(merged!.events - short) < short / 50, 'slices at the ends count whole');
  assert.ok(
    rows.some(({ self_ns }) => self_ns === null),
    'merged slices do not tell how much of them is nested',
  );
});

test('a search counts the events that it cannot show', async () => {
  const text = training.texts.get(merged.name)!;
  const found = await source.search({ text, direction: 'next', ts: -1, id: 0 });
  assert.ok(found.count < found.events!);
  assert.ok(found.events! >= ofName.count);
});

let browser: Browser;
before(async () => (browser = await launch()));
after(() => browser.close());
const text = (page: Page, selector: string) => page.locator(selector).innerText();

test('the page says that events are merged, in the aside and at each merged slice', async () => {
  const url = writeFile('merged', data);
  const { page, wrongs } = await open(browser, `${url}#e=${merged.id}&b=event`);
  assert.match(await text(page, '.facts'), /events, some merged/);
  assert.match(await text(page, 'aside .merged'), /those shorter than 1.05 ms share slices/);
  const panel = await text(page, '.event-panel');
  assert.match(panel, new RegExp(`${merged.count} events, merged`));
  assert.match(panel, /duration\s+not known; together/);
  assert.doesNotMatch(panel, /of the mean/);
  await page.keyboard.press('Escape');
  await settled(page);
  const url2 = url.replace(/#.*/, '');
  await page.goto(
    `${url2}#r=${training.run.steps[3].ts_ns},${training.run.steps[6].ts_ns}&b=range`,
  );
  await page.reload();
  await settled(page);
  assert.match(
    await text(page, '.range-panel'),
    /About [\d,]+ events shorter than 1.05 ms are not/,
  );
  assert.deepEqual(wrongs, []);
});

test('a page with all events says nothing about merging', async () => {
  const { page } = await open(browser, writeFile('not-merged', training.data));
  assert.equal(await page.locator('.merged').count(), 0);
  assert.doesNotMatch(await text(page, '.facts'), /merged/);
});
