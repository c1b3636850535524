// Tests the page as `xlaprof view` serves it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { launch, open, settled } from './browser.ts';
import { type Served, serve } from './server.ts';
import { makeTraining } from './training.ts';

let browser: Browser;
let served: Served;
before(async () => {
  browser = await launch();
  served = await serve(makeTraining());
});
after(async () => {
  served.close();
  await browser.close();
});

test('it asks what it needs, once', async () => {
  const { page, wrongs } = await open(browser, served.url);
  const slices = () => served.asked.filter((address) => address.startsWith('slices'));
  assert.equal(slices().length, 1);
  assert.match(slices()[0], /lanes=\d+((%2C|,)\d+)+&from_ns=0&to_ns=\d+&resolution_ns=\d+/);
  await page.mouse.move(800, 400);
  for (let i = 0; i < 8; ++i) await page.keyboard.press('w');
  await settled(page);
  assert.equal(slices().length, 1, 'small lanes came whole');
  await page.fill('#search', 'XlaCompile');
  await settled(page);
  assert.match(await page.locator('output').innerText(), /^\d of 5$/);
  assert.equal(await page.locator('.event-panel h3').innerText(), 'XlaCompile');
  assert.deepEqual(served.asked.filter((address) => address.startsWith('event')).length, 1);
  await page.focus('.bars');
  await page.keyboard.press('ArrowRight');
  await page.waitForSelector('.totals tbody tr');
  assert.ok(
    served.asked.some((address) => address.startsWith('range?from_ns=')),
    'of all lanes',
  );
  assert.deepEqual(wrongs, []);
});

test('lanes come first, then the findings, and the one that a link names', async () => {
  const { page, wrongs } = await open(browser, `${served.url}#f=1&b=finding`);
  const answered = served.asked.slice(served.asked.lastIndexOf('run.json'));
  assert.deepEqual(
    answered.map((address) => address.split('?')[0]),
    ['run.json', 'slices', 'findings.json'],
  );
  assert.equal(await page.locator('.finding').count(), 3);
  assert.match(await page.locator('.finding-panel h3').innerText(), /^CPU:0 idle/);
  assert.match(page.url(), /f=1&b=finding/);
  assert.deepEqual(wrongs, []);
});

test('what the server refuses is told', async () => {
  const { page } = await open(browser, `${served.url}#e=999999`);
  await page.waitForSelector('[role=alert]');
  assert.equal(await page.locator('[role=alert]').innerText(), 'no event 999999');
});
