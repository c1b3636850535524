// Views ten million events with `xlaprof view`. Times are only printed. Tested are the sizes of
// answers and of the page's memory.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { launch, settled } from './browser.ts';
import { folder, served, skip, xlaprof } from './program.ts';

const kEvents = 10_000_000;
const kMostSent = 3e6; // bytes of one answer, which is a screen of slices
const kMostKept = 300e6; // bytes of the page's JavaScript heap

const store = join(folder, 'large.xlaprof');
let browser: Browser;
before(() => {
  if (skip) return;
  const generate = join(folder, 'generate');
  const capture = join(folder, 'large.xplane.pb');
  execFileSync('g++', ['-std=c++20', '-O1', '-o', generate, '../../bench/generate_xspace.cc']);
  execFileSync(generate, [capture, String(kEvents), '--nested']);
  xlaprof('import', capture, '-o', store);
});
before(async () => void (skip || (browser = await launch())));
after(() => browser?.close());

// Returns how many ms each frame took while keys were pressed, the longest last.
async function framesWhile(page: Page, keys: string[]): Promise<number[]> {
  await page.evaluate(() => {
    const frames = window as unknown as { frames_ms: number[] };
    frames.frames_ms = [];
    let last = performance.now();
    requestAnimationFrame(function look(now) {
      frames.frames_ms.push(now - last);
      last = now;
      requestAnimationFrame(look);
    });
  });
  for (const key of keys) await page.keyboard.press(key);
  const times = await page.evaluate(() => (window as unknown as { frames_ms: number[] }).frames_ms);
  return times.sort((a, b) => a - b);
}

test('ten million events', { skip }, async (t) => {
  const { url, end } = await served(store);
  try {
    const start = performance.now();
    const context = await browser.newContext();
    const page = await context.newPage();
    let sent = 0;
    page.on('response', async (answer) => {
      const { length } = await answer.body().catch(() => Buffer.alloc(0));
      sent = Math.max(sent, length);
    });
    await page.goto(url);
    await page.waitForSelector('.pane.scrolled canvas');
    t.diagnostic(`lanes after ${Math.round(performance.now() - start)} ms`);
    await page.waitForSelector('.finding');
    t.diagnostic(`findings after ${Math.round(performance.now() - start)} ms`);
    await settled(page);
    assert.match(await page.locator('.facts').innerText(), /10,\d{3},\d{3} events/);
    const box = (await page.locator('.pane.scrolled canvas').boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    const moves = ['d', 'd', 'a', 'w', 'w', 'w', 'd', 's', 'w', 'w', 'w', 'w', 'a', 'd'];
    const frames = await framesWhile(page, [...moves, ...moves, ...moves]);
    t.diagnostic(
      `frames while it moves: median ${frames[frames.length >> 1].toFixed(0)} ms, longest ${frames.at(-1)!.toFixed(0)} ms`,
    );
    await settled(page);
    await page.keyboard.press('/');
    await page.keyboard.type('xlacompile');
    await page.keyboard.press('Enter');
    await settled(page);
    assert.ok(sent < kMostSent, `${sent} bytes in one answer`);
    const session = await context.newCDPSession(page);
    await session.send('HeapProfiler.collectGarbage');
    await session.send('Performance.enable');
    const { metrics } = await session.send('Performance.getMetrics');
    const kept = metrics.find(({ name }) => name === 'JSHeapUsedSize')!.value;
    t.diagnostic(`the page keeps ${Math.round(kept / 1e6)} MB, the longest answer ${sent} bytes`);
    assert.ok(kept < kMostKept);
    await context.close();
  } finally {
    end();
  }
});
