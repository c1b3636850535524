// The page in a frame, as a notebook shows it: without an address, and without rights of its own.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { after, test } from 'node:test';
import { launch, writeFile } from './browser.ts';
import { makeTraining } from './training.ts';

const browser = await launch();
after(() => browser.close());

const escape = (text: string) =>
  text.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/</g, '&lt;');

test('a frame without an origin shows the findings and the timeline', async () => {
  const path = fileURLToPath(writeFile('framed', makeTraining({ events: 4000 }).data));
  const notebook = path.replace('framed', 'notebook');
  const frame = `<iframe srcdoc="${escape(readFileSync(path, 'utf8'))}" sandbox="allow-scripts"`;
  writeFileSync(notebook, `<html><body>${frame} style="width:1200px;height:700px"></iframe>`);
  const page = await browser.newPage();
  const wrongs: string[] = [];
  page.on('pageerror', (error) => wrongs.push(String(error)));
  await page.goto(`file://${notebook}`);
  const viewer = page.frameLocator('iframe');
  await viewer.locator('[aria-label=Findings]:not([aria-busy=true])').waitFor();
  await viewer.locator('canvas').first().click();
  await page.keyboard.press('w'); // the view changes, and with it the link
  await page.waitForTimeout(1000);
  assert.deepEqual(wrongs, []);
});
