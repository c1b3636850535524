// Compares fixed views with the pictures in test/views. XLAPROF_UPDATE_GOLDEN=1 takes the pictures
// anew. Look at them before you commit them.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { launch, open, settled, writeFile } from './browser.ts';
import { makeTraining } from './training.ts';

const folder = 'test/views';
// Other versions of chromium draw letters a little differently, so the mean colours of squares of
// kSquare pixels a side are compared. They (0 to 255) may differ by kMostOfOne in one square, and
// by kMostOfAll on average.
const kSquare = 8;
const kMostOfOne = 48;
const kMostOfAll = 2;

const { run, data } = makeTraining();
const url = writeFile('views', data);
let browser: Browser;
before(async () => void (browser = await launch()));
after(() => browser.close());

const step = run.steps[4];
const whole = { viewport: { width: 1280, height: 800 } };
const views: [name: string, hash: string, options: BrowserContextOptions][] = [
  ['whole, light', '', { ...whole, colorScheme: 'light' }],
  ['whole, dark', '', { ...whole, colorScheme: 'dark' }],
  ['a step', `#v=${step.ts_ns},${step.ts_ns! + step.dur_ns!}`, { ...whole, colorScheme: 'light' }],
  ['a finding', '#f=0&b=finding', { ...whole, colorScheme: 'dark' }],
  [
    'a range, wide',
    `#r=${step.ts_ns},${step.ts_ns! + step.dur_ns!}&b=range`,
    { viewport: { width: 3840, height: 1200 }, colorScheme: 'light' },
  ],
];

for (const [name, hash, options] of views)
  test(name, async () => {
    const seen = await picture(hash, options);
    const path = `${folder}/${name.replace(/\W+/g, '_')}.png`;
    if (process.env.XLAPROF_UPDATE_GOLDEN) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(path, seen);
    }
    assert.ok(existsSync(path), `${path} is missing: XLAPROF_UPDATE_GOLDEN=1 makes it`);
    const [expected, now] = [await squares(readFileSync(path)), await squares(seen)];
    assert.equal(now.length, expected.length, 'of another size');
    const apart = now.map((value, i) => Math.abs(value - expected[i]));
    const most = apart.reduce((a, b) => Math.max(a, b), 0);
    const mean = apart.reduce((a, b) => a + b, 0) / apart.length;
    if (most > kMostOfOne || mean > kMostOfAll) {
      mkdirSync('.cache/views', { recursive: true });
      writeFileSync(`.cache/${path.slice(5)}`, seen);
    }
    assert.ok(
      most <= kMostOfOne && mean <= kMostOfAll,
      `${path}: differs by ${mean.toFixed(1)}, in one place by ${most.toFixed(0)}; what was seen is in exporters/html/.cache/views`,
    );
  });

// Returns a picture of the page at rest, with a font that every Debian has.
async function picture(hash: string, options: BrowserContextOptions): Promise<Buffer> {
  const { page, wrongs } = await open(browser, url + hash, { ...options, bypassCSP: true });
  await page.addStyleTag({ content: "* { font-family: 'DejaVu Sans' !important }" });
  await page.setViewportSize({ ...page.viewportSize()!, height: options.viewport!.height + 1 });
  await page.setViewportSize(options.viewport!);
  await settled(page);
  const taken = await page.screenshot({ animations: 'disabled' });
  assert.deepEqual(wrongs, []);
  await page.context().close();
  return taken;
}

// Returns the mean red, green and blue of each square of a picture.
async function squares(png: Buffer): Promise<number[]> {
  const page = await browser.newPage();
  const means = await page.evaluate(
    async ([base64, side]) => {
      const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
      const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
      const ctx = canvas.getContext('2d')!;
      ctx.drawImage(bitmap, 0, 0);
      const { data } = ctx.getImageData(0, 0, bitmap.width, bitmap.height);
      const columns = Math.ceil(bitmap.width / side);
      const sums = new Array<number>(columns * Math.ceil(bitmap.height / side) * 3).fill(0);
      const pixels = sums.slice();
      for (let y = 0; y < bitmap.height; ++y)
        for (let x = 0; x < bitmap.width; ++x)
          for (let c = 0; c < 3; ++c) {
            const square = (Math.floor(y / side) * columns + Math.floor(x / side)) * 3 + c;
            sums[square] += data[(y * bitmap.width + x) * 4 + c];
            ++pixels[square];
          }
      return sums.map((sum, i) => sum / pixels[i]);
    },
    [png.toString('base64'), kSquare] as const,
  );
  await page.close();
  return means;
}
