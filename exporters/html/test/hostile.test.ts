// Shows names that were made to do harm. No name may be executed or break the page.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { launch, open, settled, writeFile } from './browser.ts';
import { makeTraining } from './training.ts';

const names = [
  '<img src=x onerror=alert(1)>',
  '</script><script>alert(2)</script>',
  '"><svg onload=alert(3)>',
  "' onmouseover='alert(4)",
  'line\nafter\r\nline\ttab\u0000nul\u001b[31m',
  '\u202egnirts desrever\u202c \u2066isolated',
  'שלום עולם مرحبا بالعالم',
  'x'.repeat(1_000_000),
  '<!--data-->',
  '$& $1 ${alert(5)} javascript:alert(6)',
  '\ud83d\udc69\u200d\ud83d\udcbb e\u0301\u0302\u0303'.repeat(40),
  '',
];

let browser: Browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

test('hostile names everywhere', async () => {
  const training = makeTraining({ names });
  const { run } = training;
  const [evil, script] = names;
  const long = names[7];
  run.label = `${script}${names[5]}`;
  run.report.findings.forEach((finding, i) => {
    finding.title = names[i] + long;
    finding.advice = script + long;
    finding.cost_note = evil;
    finding.kind = evil;
    finding.subject = {
      ...finding.subject,
      file: `/a/${script}`,
      function: evil,
      op: evil,
      scope: names[6],
    };
  });
  run.report.issues.push({
    path: script,
    code: evil,
    severity: 'error',
    count: 1,
    offset: null,
    line: 3,
    advice: script,
  });
  run.report.summary.coverage[0].note = script;
  run.processes[0] = { id: 1, name: evil, detail: names[5] };
  run.lanes.forEach((lane, i) => (lane.name = names[i % names.length]));
  run.marks.forEach((mark, i) => (mark.text = names[i % names.length]));
  run.step_parts = run.step_parts.map((_, i) => names[i]);
  run.reasons[0]!.rows = names.map((name, i) => [name, script, i % 3, evil]);
  run.quotes[0] = { file: evil, line: 1, text: script, newer_than_capture: true };
  const { page, wrongs } = await open(browser, writeFile('hostile', training.data));
  for (let i = 0; i < 3; ++i) {
    await page.click(`.finding >> nth=${i}`);
    await settled(page);
  }
  for (const summary of await page.locator('summary').all()) await summary.click();
  await page.keyboard.press('Escape');
  const box = (await page.locator('.pane.scrolled canvas').boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + 30);
  for (let i = 0; i < 12; ++i) await page.keyboard.press('w');
  for (let y = 30; y < box.height; y += 15)
    await page.mouse.click(box.x + box.width / 2, box.y + y);
  await settled(page);
  for (const name of names.filter(Boolean)) {
    await page.fill('#search', name.slice(0, 100).replace(/[\r\n]/g, ' '));
    await settled(page);
  }
  await page.fill('#search', evil);
  await page.keyboard.press('Enter');
  await settled(page);
  assert.equal(await page.locator('.event-panel h3').innerText(), evil);
  await page.reload();
  await settled(page);
  assert.deepEqual(wrongs, []);
  assert.equal(await page.locator('img, #page script, iframe').count(), 0);
  // Nothing is wider than the window, and the important parts are still visible.
  const layout = await page.evaluate(() => ({
    width: document.documentElement.scrollWidth,
    height: document.documentElement.scrollHeight,
    canvas: document.querySelector('.pane.scrolled canvas')!.clientHeight,
    search: document.querySelector('header form')!.getBoundingClientRect().right,
  }));
  assert.ok(
    layout.width <= 1280 && layout.height <= 800 && layout.canvas > 100 && layout.search < 1280,
    JSON.stringify(layout),
  );
});

test('a script that a file is given besides does not run', async () => {
  const { run, ...rest } = makeTraining().data;
  const url = writeFile('injected', { ...rest, run });
  const { page, wrongs } = await open(browser, url);
  const ran = await page.evaluate(async () => {
    const script = document.createElement('script');
    script.textContent = 'document.title = "ran"';
    document.body.append(script);
    document.body.insertAdjacentHTML(
      'beforeend',
      '<p style="color: red" onclick="document.title = \'ran\'">x</p>',
    );
    document.querySelector<HTMLElement>('p[onclick]')!.click();
    return document.title;
  });
  assert.notEqual(ran, 'ran');
  assert.ok(
    wrongs.length > 0 && wrongs.every((wrong) => wrong.includes('Content Security Policy')),
    wrongs.join('\n'),
  );
});
