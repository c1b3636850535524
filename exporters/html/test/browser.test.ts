// Tests the page in a real browser, opened from disk as a user would open it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { launch, open, settled, writeFile } from './browser.ts';
import { makeTraining } from './training.ts';

const training = makeTraining();
let browser: Browser;
let url: string;

before(async () => {
  browser = await launch();
  url = writeFile('training', training.data);
});
after(() => browser.close());

const hash = (page: Page) => page.evaluate(() => location.hash);
const text = (page: Page, selector: string) => page.locator(selector).innerText();

// Returns where a slice is on the screen.
async function placeOf(
  page: Page,
  lane: number,
  row: number,
  ts: number,
): Promise<{ x: number; y: number }> {
  const [from, to] = (await hash(page))
    .match(/v=(-?\d+),(-?\d+)/)!
    .slice(1)
    .map(Number);
  const box = (await page.locator('.pane.scrolled canvas').boundingBox())!;
  const name = training.run.lanes.find(({ id }) => id === lane)!.name;
  const head = (await page.locator('.head', { hasText: name }).boundingBox())!;
  const rowHeight = (head.height - 5) / training.run.lanes.find(({ id }) => id === lane)!.rows;
  return {
    x: box.x + ((ts - from) / (to - from)) * box.width,
    y: head.y + 2 + (row + 0.5) * rowHeight,
  };
}

// Moves the window a little and back, so that the address holds it.
async function nudge(page: Page): Promise<void> {
  await page.keyboard.press('d');
  await page.keyboard.press('a');
  await settled(page);
}

test('it opens from disk without an error, and asks nobody', async () => {
  const { page, wrongs } = await open(browser, url);
  assert.equal(await text(page, 'h1'), '2026_11_21_03_06_23');
  assert.equal(await page.locator('.finding').count(), 3);
  assert.equal(await text(page, 'aside h2 >> nth=0'), '2 findings, most expensive first');
  assert.match(await text(page, '.facts'), /20 steps/);
  assert.deepEqual(wrongs, []);
});

test('where room is short a file keeps its line', async () => {
  const { page } = await open(browser, url);
  await page.setViewportSize({ width: 800, height: 600 });
  const item = page.locator('.finding', { has: page.locator('.place span:nth-child(2)') }).first();
  await item.locator('.place .name').evaluate((name) => (name.textContent = 'long_'.repeat(40)));
  const line = (await item.locator('.place span:nth-child(2)').boundingBox())!;
  const room = (await item.boundingBox())!;
  assert.match(await item.locator('.place span:nth-child(2)').innerText(), /^:\d+$/);
  assert.ok(line.width > 0 && line.x + line.width <= room.x + room.width);
});

test('each finding takes the timeline to its marks, and tells its reason', async () => {
  const { page, wrongs } = await open(browser, url);
  const { findings } = training.run.report;
  for (let i = 0; i < findings.length; ++i) {
    await page.click(`.finding >> nth=${i}`);
    await settled(page);
    assert.equal(await text(page, '.finding-panel h3'), findings[i].title);
    assert.match(await hash(page), new RegExp(`f=${i}&b=finding`));
    assert.ok((await text(page, '.advice')).includes(findings[i].advice!));
    const [from, to] = (await hash(page))
      .match(/v=(-?\d+),(-?\d+)/)!
      .slice(1)
      .map(Number);
    for (const mark of training.run.marks.filter((mark) => mark.finding === i))
      assert.ok(from <= mark.ts_ns && mark.ts_ns + mark.dur_ns! <= to);
  }
  await page.click('.finding >> nth=0');
  assert.equal(await page.locator('.reason .began').count(), 1);
  assert.match(await text(page, '.reason .began'), /f32\[64,1,28,28\][^]*f32\[48,1,28,28\]/);
  assert.equal(await page.locator('.reason .differs').count(), 3);
  assert.match(
    await text(page, '.sides .change'),
    /xla::device_data\s+f32\[64,1,28,28\]\s+f32\[48,1,28,28\]/,
  );
  assert.match(await text(page, '.quote'), /loss = model/);
  await page.click('.evidence .link >> nth=2');
  await settled(page);
  const mark = training.run.marks
    .filter((mark) => mark.finding === 0)
    .sort((a, b) => b.dur_ns! - a.dur_ns!)[2];
  const [from, to] = (await hash(page))
    .match(/v=(-?\d+),(-?\d+)/)!
    .slice(1)
    .map(Number);
  assert.ok(from < mark.ts_ns && to > mark.ts_ns + mark.dur_ns! && to - from < mark.dur_ns! * 3);
  assert.deepEqual(wrongs, []);
});

// An earlier version moved the time, but left the lane of the evidence far below the visible part.
test('a finding, and each of its places, takes the timeline to its lane', async () => {
  const { page, wrongs } = await open(browser, url, { viewport: { width: 1280, height: 560 } });
  const isSeen = async (lane: string) => {
    await settled(page);
    const pane = (await page.locator('.pane.scrolled').boundingBox())!;
    const head = await page.locator(`.head:has-text("${lane}")`).boundingBox();
    return head !== null && pane.y <= head.y && head.y < pane.y + pane.height;
  };
  await page.click('.finding >> nth=1'); // gaps of a device
  assert.ok(await isSeen('XLA Modules'));
  await page.click('.finding >> nth=0'); // compilations on the main thread
  assert.ok(await isSeen('MainThread'));
  await page.click('.finding >> nth=1');
  await page.mouse.move(800, 300);
  await page.mouse.wheel(0, 2000);
  assert.ok(!(await isSeen('XLA Modules')));
  await page.click('.evidence .link >> nth=0');
  assert.ok(await isSeen('XLA Modules'));
  assert.deepEqual(wrongs, []);
});

test('search counts, goes on and back, and keeps the keys to itself', async () => {
  const { page, wrongs } = await open(browser, url);
  await page.keyboard.press('/');
  await page.keyboard.type('xlacompile');
  await settled(page);
  assert.equal(await text(page, 'output'), '1 of 5');
  await page.keyboard.press('Enter');
  await settled(page);
  assert.equal(await text(page, 'output'), '2 of 5');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.press('Shift+Enter');
  await settled(page);
  assert.equal(await text(page, 'output'), '5 of 5');
  assert.match(await text(page, '[aria-live]'), /5 of 5: XlaCompile/);
  assert.equal(await text(page, '.event-panel h3'), 'XlaCompile');
  await page.fill('#search', 'no such thing');
  await settled(page);
  assert.equal(await text(page, 'output'), 'none');
  assert.deepEqual(wrongs, []);
});

// In an earlier version the panel that the first hit opens covered the hit.
test('what a search finds is seen above the panel that opens for it', async () => {
  const { page, wrongs } = await open(browser, url, { viewport: { width: 1280, height: 560 } });
  await page.fill('#search', 'checkpoint');
  await settled(page);
  assert.equal(await text(page, 'output'), '1 of 1');
  const pane = (await page.locator('.pane.scrolled').boundingBox())!;
  const head = (await page.locator('.head:has(.name):has-text("uploader")').boundingBox())!;
  assert.ok(pane.y <= head.y && head.y + head.height <= pane.y + pane.height);
  await page.mouse.move(pane.x + pane.width / 2, pane.y + 20);
  await page.mouse.wheel(0, -2000);
  await settled(page);
  await page.keyboard.press('Escape');
  await settled(page);
  assert.doesNotMatch(await hash(page), /&y=/, 'who scrolls away stays away');
  assert.deepEqual(wrongs, []);
});

test('a slice that is clicked shows its arguments, totals and flows, along which one can jump', async () => {
  const { page, wrongs } = await open(browser, url);
  const launched = training.lanes[0].rows[1].find(
    (slice) => training.texts.get(slice.name) === 'ExecuteComputation',
  )!;
  await page.goto(`${url}#v=${launched.ts - 20e6},${launched.ts + 40e6}`);
  await settled(page);
  const { x, y } = await placeOf(page, 1, 1, launched.ts + launched.dur / 2);
  await page.mouse.click(x, y);
  await settled(page);
  assert.equal(await text(page, '.event-panel h3'), 'ExecuteComputation');
  assert.match(await text(page, '.event-panel'), /18446744073709551615/);
  assert.match(await text(page, '.event-panel'), /count\s*20/);
  assert.match(await hash(page), new RegExp(`e=${launched.id}`));
  await page.click('.event-panel .link');
  await settled(page);
  assert.equal(await text(page, '.event-panel h3'), 'SyncTensorsGraph.180');
  await page.keyboard.press('.');
  await settled(page);
  assert.equal(await text(page, '.event-panel h3'), 'SyncTensorsGraph.181');
  assert.deepEqual(wrongs, []);
});

test('a drag on the ruler measures: the table is what the events say, by any column', async () => {
  const { page, wrongs } = await open(browser, url);
  await nudge(page);
  const ruler = (await page.locator('.ruler canvas').boundingBox())!;
  await page.mouse.move(ruler.x + ruler.width * 0.2, ruler.y + 30);
  await page.mouse.down();
  await page.mouse.move(ruler.x + ruler.width * 0.7, ruler.y + 30, { steps: 5 });
  await page.mouse.up();
  await settled(page);
  const [from, to] = (await hash(page))
    .match(/r=(-?\d+),(-?\d+)/)!
    .slice(1)
    .map(Number);
  const inside = training.lanes
    .flatMap((lane) => lane.rows.flat())
    .filter(
      (slice) =>
        slice.ts < to && slice.ts + slice.dur > from && training.texts.get(slice.name) === 'relu',
    );
  const row = page.locator('.totals tbody tr', {
    has: page.locator('.name', { hasText: /^relu$/ }),
  });
  assert.equal(await row.locator('td').nth(1).innerText(), String(inside.length));
  await page.click('.totals th.count button');
  const counts = (await page.locator('.totals tbody td:nth-child(2)').allInnerTexts()).map((text) =>
    Number(text.replace(/,/g, '')),
  );
  assert.deepEqual(
    counts,
    [...counts].sort((a, b) => b - a),
  );
  await page.click('.totals th.count button');
  assert.equal(await page.locator('.totals th.count').getAttribute('aria-sort'), 'ascending');
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('.panel').count(), 0);
  assert.deepEqual(wrongs, []);
});

test('keys and wheel zoom and move; f fits', async () => {
  const { page, wrongs } = await open(browser, url);
  await nudge(page);
  const window = async () => {
    await settled(page);
    const [from, to] = (await hash(page))
      .match(/v=(-?\d+),(-?\d+)/)!
      .slice(1)
      .map(Number);
    return { from, to, width: to - from };
  };
  const whole = await window();
  await page.keyboard.press('w');
  const near = await window();
  assert.ok(near.width < whole.width && near.from > whole.from && near.to < whole.to);
  await page.keyboard.press('ArrowRight');
  const moved = await window();
  assert.ok(moved.from > near.from && Math.abs(moved.width - near.width) < 3);
  const box = (await page.locator('.pane.scrolled canvas').boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + 50);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -100);
  await page.keyboard.up('Control');
  const wheeled = await window();
  assert.ok(wheeled.width < moved.width);
  assert.ok(
    Math.abs((wheeled.from + wheeled.to) / 2 - (moved.from + moved.to) / 2) < moved.width / 100,
  );
  await page.keyboard.down('Shift');
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 - 100, box.y + 50, { steps: 3 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  assert.ok((await window()).from > wheeled.from);
  await page.keyboard.press('f');
  assert.deepEqual(await window(), whole);
  assert.deepEqual(wrongs, []);
});

test('a link shows a colleague the same', async () => {
  const { page } = await open(browser, url);
  await page.click('.finding >> nth=1');
  await page.keyboard.press('/');
  await page.keyboard.type('relu');
  await page.waitForSelector('output:has-text("1 of 31")');
  await page.keyboard.press('Enter');
  await page.waitForSelector('output:has-text("2 of 31")');
  await settled(page);
  await page.keyboard.press('Escape');
  await page.hover('.head:has-text("XLA Ops")');
  await page.click('.head:has-text("XLA Ops") .pin');
  await page.click('.head:has-text("loader worker 0") button >> nth=0');
  await page.mouse.move(900, 420);
  await page.keyboard.press('m');
  await settled(page);
  const link = await page.evaluate(() => location.href);
  for (const part of ['f=1', 'q=relu', 'n=', 'p=4', 'c=2', 'm='])
    assert.ok(link.includes(part), `${part} in ${link}`);
  const colleague = await open(browser, link);
  await settled(colleague.page);
  assert.equal(await hash(colleague.page), await hash(page));
  assert.equal(await text(colleague.page, 'output'), await text(page, 'output'));
  assert.equal(await colleague.page.locator('.finding[aria-current=true]').count(), 1);
  assert.deepEqual(colleague.wrongs, []);
});

test('lanes draw what is there: compiles stand out, what was not covered is shaded', async () => {
  const { page } = await open(browser, url);
  await nudge(page);
  const compile = training.run.marks[0];
  const { x, y } = await placeOf(page, 1, 1, compile.ts_ns + compile.dur_ns! * 0.9);
  assert.deepEqual(await pixel(page, x, y), [0xc7, 0x41, 0x1b]);
  const empty = await placeOf(page, 2, 0, compile.ts_ns + compile.dur_ns! * 0.5);
  const colours = new Set<string>();
  for (let i = 0; i < 12; ++i) colours.add((await pixel(page, empty.x + i, empty.y)).join());
  assert.ok(
    colours.has('255,255,255') && colours.size <= 2,
    'covered: bare, but for a line of the grid',
  );
  const { end_ns } = training.run.span;
  await page.goto(`${url}#v=${end_ns - 30e6},${end_ns}`);
  await settled(page);
  const coloursAt = async (ts: number) => {
    const { x, y } = await placeOf(page, 2, 0, ts);
    const colours = new Set<string>();
    for (let i = 0; i < 8; ++i) colours.add((await pixel(page, x + i, y)).join());
    return [...colours];
  };
  assert.deepEqual(await coloursAt(end_ns - 28e6), ['255,255,255']);
  assert.ok((await coloursAt(end_ns - 8e6)).length > 1, 'hatched');
});

async function pixel(page: Page, x: number, y: number): Promise<number[]> {
  return page.evaluate(
    ([x, y]) => {
      const canvas = document.elementFromPoint(x, y) as HTMLCanvasElement;
      const box = canvas.getBoundingClientRect();
      const scale = canvas.width / box.width;
      const { data } = canvas
        .getContext('2d')!
        .getImageData((x - box.x) * scale, (y - box.y) * scale, 1, 1);
      return [...data.slice(0, 3)];
    },
    [x, y],
  );
}

test('each step tells how long its device was idle', async () => {
  const { page } = await open(browser, url);
  assert.match(await text(page, '.legend'), /CPU:0 idle\s*[\d.]+ %/);
  const bars = (await page.locator('.bars').boundingBox())!;
  const at = (x: number, fromBelow: number) => [x, bars.y + bars.height - fromBelow] as const;
  const middle = bars.x + bars.width / 40; // middle of the first of 20 steps
  await page.mouse.move(...at(middle, 10));
  await settled(page);
  assert.match(await text(page, '.tip'), /CPU:0 idle 9\d\d ms \(\d\d %\)/);
  assert.deepEqual(await pixel(page, ...at(middle, 15)), [0xe0, 0x8a, 0x6d]);
  assert.deepEqual(await pixel(page, ...at(middle + bars.width / 10, 6)), [0x6d, 0x95, 0xcc]);
});

test('steps can be walked by the keyboard, and are said', async () => {
  const { page, wrongs } = await open(browser, url);
  await page.focus('.bars');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await settled(page);
  assert.match((await page.getAttribute('.bars', 'aria-valuetext'))!, /step 101 \(warm-up\)/);
  const step = training.run.steps[1];
  assert.match(await hash(page), new RegExp(`r=${step.ts_ns},${step.ts_ns! + step.dur_ns!}`));
  assert.deepEqual(wrongs, []);
});

test('lanes of a device say which, also those that are pinned, and fold together', async () => {
  const { page, wrongs } = await open(browser, url);
  const device = page.locator('.head.device');
  assert.equal(await device.innerText(), 'CPU:0');
  await page.hover('.head:has-text("XLA Ops")');
  await page.click('.head:has-text("XLA Ops") .pin');
  assert.equal(await text(page, '.pane.pinned .name'), 'CPU:0 · XLA Ops');
  await device.locator('button').click();
  assert.equal(await page.locator('.head:has-text("XLA Modules")').count(), 0);
  await page.fill('#search', 'SyncTensorsGraph.183');
  await settled(page);
  assert.equal(await page.locator('.head:has-text("XLA Modules")').count(), 1, 'a hit unfolds it');
  assert.match(await text(page, '.event-panel'), /CPU:0 · XLA Modules/);
  assert.deepEqual(wrongs, []);
});

test('a run that is one of several says so, and how to see the others', async () => {
  const { page } = await open(browser, url);
  assert.doesNotMatch(await text(page, 'header'), /one of/);
  const run = { ...training.run, other_runs: ['rank-0', 'rank-1'] };
  const several = await open(browser, writeFile('several', { ...training.data, run }));
  const said = several.page.locator('header .facts', { hasText: 'one of 3 runs (--run LABEL)' });
  assert.match((await said.getAttribute('title'))!, / · rank-0 · rank-1$/);
  assert.deepEqual(several.wrongs, []);
});

test('dark, light and the system’s; a choice is remembered', async () => {
  const dark = await open(browser, url, { colorScheme: 'dark' });
  const theme = (page: Page) => page.evaluate(() => document.documentElement.dataset.theme);
  assert.equal(await theme(dark.page), 'dark');
  const { page } = await open(browser, url, { colorScheme: 'light' });
  assert.equal(await theme(page), 'light');
  await page.click('[aria-label^=Theme]');
  assert.equal(await theme(page), 'dark');
  await page.reload();
  await page.waitForSelector('.pane.scrolled canvas');
  assert.equal(await theme(page), 'dark');
});

test('help opens and closes; everything that can be pressed has a name', async () => {
  const { page, wrongs } = await open(browser, url);
  await page.keyboard.press('?');
  await page.waitForSelector('dialog[open]');
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog', { state: 'hidden' });
  await page.click('.finding >> nth=0');
  const nameless = await page.evaluate(
    () =>
      [
        ...document.querySelectorAll('button, input, select, [role=slider], [role=separator]'),
      ].filter((element) => !(element.getAttribute('aria-label') || element.textContent!.trim()))
        .length,
  );
  assert.equal(nameless, 0);
  for (const landmark of ['header', 'aside', 'main', '[role=search]'])
    assert.equal(await page.locator(landmark).count(), 1, landmark);
  assert.deepEqual(wrongs, []);
});

test('a run without a clock, and one without findings', async () => {
  const { run } = makeTraining();
  const bare = {
    ...run,
    lanes: [],
    steps: [],
    marks: [],
    covered: [],
    reasons: [],
    quotes: [],
    report: {
      summary: { ...run.report.summary, steps: 14, compile_count: 3, execution_count: 9 },
      findings: [],
      issues: [],
    },
    span: { ...run.span, end_ns: 0 },
  };
  const none = new Uint8Array(0);
  const nothing = { slices: new Uint8Array([0, 0]), arguments: none, flows: none };
  const { page, wrongs } = await open(browser, writeFile('bare', { ...nothing, run: bare }));
  assert.match(await text(page, '.empty'), /no timeline/);
  assert.equal(await text(page, '.facts'), '14 steps · 3 compilations · 9 executions');
  assert.match(await text(page, 'aside'), /Nothing found that needs fixing/);
  assert.deepEqual(wrongs, []);
  const empty = {
    ...bare,
    report: { ...bare.report, summary: { ...bare.report.summary, steps: null, coverage: [] } },
  };
  const opened = await open(browser, writeFile('empty', { ...nothing, run: empty }));
  assert.match(await text(opened.page, 'aside'), /Nothing was recorded/);
  const [host] = run.lanes;
  const single = {
    ...bare,
    lanes: [{ ...host, events: 1 }],
    span: run.span,
    steps: [run.steps[0]],
    report: { ...bare.report, summary: { ...bare.report.summary, steps: 1 } },
  };
  const one = await open(browser, writeFile('one', { ...nothing, run: single }));
  assert.match(await text(one.page, '.facts'), / · 1 step · 1 event$/);
});

test('the flows of a selected slice are arrows', async () => {
  const { page } = await open(browser, url);
  const launched = training.lanes[0].rows[1].find(
    (slice) => training.texts.get(slice.name) === 'ExecuteComputation',
  )!;
  const view = `v=${launched.ts - 20e6},${launched.ts + 40e6}`;
  const accents = () =>
    page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('.pane.scrolled canvas')!;
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let i = 0; i < data.length; i += 4)
        if (data[i] === 0x1d && data[i + 1] === 0x63 && data[i + 2] === 0xc9) ++count;
      return count;
    });
  await page.goto(`${url}#${view}`);
  await settled(page);
  assert.equal(await accents(), 0);
  await page.goto(`${url}#${view}&e=${launched.id}`);
  await settled(page);
  assert.ok((await accents()) > 50);
});

test('a drag measures the lanes that it touches', async () => {
  const { page, wrongs } = await open(browser, url);
  await nudge(page);
  const { ts, dur } = training.lanes[0].rows[0][1];
  const from = await placeOf(page, 3, 0, ts);
  const to = await placeOf(page, 4, 0, ts + dur);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps: 4 });
  await page.mouse.up();
  await settled(page);
  assert.match(await hash(page), /&l=3,4&/);
  assert.match(await text(page, '.range-panel'), /2 lanes/);
  const names = await page.locator('.totals tbody .name').allInnerTexts();
  assert.ok(names.includes('SyncTensorsGraph.181') && !names.includes('XlaCompile'));
  assert.deepEqual(wrongs, []);
});

// Regression: the middle of names was lost together with the IDs at their ends, and a process without
// a detail had the tooltip "process␊".
test('heads keep the ends of long names, and tooltips are plain text', async () => {
  const name = 'tf_XLAEigen_with_a_very_long_name/-2216435511407';
  const lanes = training.run.lanes.map((lane) => (lane.id === 2 ? { ...lane, name } : lane));
  const processes = training.run.processes.map((process) => ({ ...process, detail: '' }));
  const run = { ...training.run, lanes, processes };
  const { page } = await open(browser, writeFile('long-names', { ...training.data, run }));
  const head = page.locator('.head', { hasText: 'XLAEigen' });
  assert.equal(await head.getAttribute('title'), `${name}, ${training.run.lanes[1].events} events`);
  const [end, room] = [
    await head.locator('.cut span').last().boundingBox(),
    await head.boundingBox(),
  ];
  assert.equal(await head.locator('.cut span').last().textContent(), name.slice(-10));
  assert.ok(end!.x + end!.width <= room!.x + room!.width);
  const labels = await page.evaluate(() =>
    [...document.querySelectorAll('[title], [aria-label]')].flatMap((element) => [
      element.getAttribute('title') ?? '',
      element.getAttribute('aria-label') ?? '',
    ]),
  );
  assert.deepEqual(
    labels.filter((label) => /[\u0000-\u001f\u2400-\u241f]/.test(label)),
    [],
  );
});

test('lanes can be filtered by keyboard, and a search brings hidden lanes back', async () => {
  const { page, wrongs } = await open(browser, url);
  await page.keyboard.press('l');
  await page.keyboard.type('/xla ops|uploader/');
  await settled(page);
  const names = await page.locator('.pane.scrolled .name').allInnerTexts();
  assert.deepEqual(names, ['XLA Ops', 'uploader']);
  assert.match(await hash(page), /&k=%2Fxla%20ops/);
  await page.keyboard.press('Escape');
  await settled(page);
  assert.equal(await page.locator('.head', { hasText: 'MainThread' }).count(), 1);
  await page.keyboard.press('l');
  await page.keyboard.type('no such lane');
  await settled(page);
  assert.match(await text(page, '.timeline'), /No lane has a name like “no such lane”/);
  await page.fill('#search', 'LowerToIr');
  await settled(page);
  assert.equal(await page.locator('.head', { hasText: 'MainThread' }).count(), 1);
  assert.deepEqual(wrongs, []);
});
