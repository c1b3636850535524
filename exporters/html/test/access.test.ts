// Tests that the page can be used by everybody: no serious violation of axe-core's rules, and a
// keyboard alone chooses events and ranges.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { launch, open, settled, writeFile } from './browser.ts';
import { makeTraining } from './training.ts';

// Its second process has a step, too, so that the strip offers a choice of processes.
const training = makeTraining();
training.run.steps.push({ ...training.run.steps[0], process: 2 });
training.run.step_parts_ns.push([...training.run.step_parts_ns[0]]);
let browser: Browser;
let url: string;

before(async () => {
  browser = await launch();
  url = writeFile('access', training.data);
});
after(() => browser.close());

const kStates: [string, string[]][] = [
  ['at first', []],
  ['a finding with two graphs', []],
  ['an event', ['.']],
  ['a range', ['r']],
  ['the help', ['?']],
];

// Returns the violations that keep people from using the page, each with the elements.
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (window as unknown as { axe: typeof axe }).axe.run(document),
  );
  return violations
    .filter(({ impact }) => impact === 'critical' || impact === 'serious')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' ')}`);
}

// Regression: the close button stood among the tabs, and code of the graph comparison and the choice
// of a process had too little contrast in the dark theme.
for (const colorScheme of ['light', 'dark'] as const)
  for (const [state, keys] of kStates)
    test(`no serious violation: ${state}, ${colorScheme}`, async () => {
      const { page } = await open(browser, url, { colorScheme, bypassCSP: true });
      if (state.startsWith('a finding')) await page.click('.finding >> nth=0');
      for (const key of keys) await page.keyboard.press(key);
      await settled(page);
      assert.equal(await page.locator('select[aria-label=Process]').count(), 1);
      assert.deepEqual(await violations(page), []);
    });

const said = (page: Page) => page.locator('[aria-live=polite]').innerText();

// Regression: the keys for the next event did nothing until the mouse had selected one.
test('a keyboard alone selects a first event, and goes along and across rows', async () => {
  const { page, wrongs } = await open(browser, url);
  await page.keyboard.press('.');
  await settled(page);
  assert.match(await said(page), /, CPU:0 · XLA Modules$/, 'the topmost lane');
  const first = await page.locator('.event-panel h3').innerText();
  await page.keyboard.press('.');
  await settled(page);
  assert.notEqual(await page.locator('.event-panel h3').innerText(), first);
  await page.keyboard.press('j');
  await settled(page);
  assert.match(await said(page), /, CPU:0 · XLA Ops$/);
  await page.keyboard.press('k');
  await settled(page);
  assert.match(await said(page), /, CPU:0 · XLA Modules$/);
  assert.deepEqual(wrongs, []);
});

test('a keyboard alone measures the window, an event, and from one event to another', async () => {
  const { page, wrongs } = await open(browser, url);
  const range = async () => {
    await settled(page);
    const [, from, to] = (await page.evaluate(() => location.hash)).match(/&r=(\d+),(\d+)/)!;
    return [Number(from), Number(to)];
  };
  await page.keyboard.press('r');
  assert.deepEqual(await range(), [0, training.run.span.end_ns]);
  await page.keyboard.press('.');
  await settled(page);
  await page.keyboard.press('r');
  const [module, next] = training.lanes[2].rows[0];
  assert.deepEqual(await range(), [module.ts, module.ts + module.dur]);
  await page.keyboard.press('.');
  await settled(page);
  await page.keyboard.press('Shift+R');
  assert.deepEqual(await range(), [module.ts, next.ts + next.dur]);
  assert.deepEqual(wrongs, []);
});

test('the help names every key', async () => {
  const { page } = await open(browser, url);
  await page.keyboard.press('?');
  await page.waitForSelector('dialog[open]');
  const help = await page.locator('dialog').innerText();
  for (const key of [', and .', 'J and K', 'R', 'L', 'M', '/', 'W, S'])
    assert.ok(
      help.split('\n').some((line) => line.startsWith(key)),
      key,
    );
});
