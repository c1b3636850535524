// Opens every capture of tests/golden with the program that XLAPROF names: as a page from disk and
// from the server. Both sources must give the same answers.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { inflateRawSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { EmbeddedSource } from '../src/embedded.ts';
import { outlineOf, type OutlineJson, type Run } from '../src/run.ts';
import type { EventDetail, EventPlace, Found, RangeTotals } from '../src/source.ts';
import { prose } from '../src/text.ts';
import { launch, open, settled } from './browser.ts';
import { folder, served, skip, xlaprof } from './program.ts';

const captures = process.env.CAPTURES ?? '../../tests/golden/captures';
let browser: Browser;
before(async () => void (skip || (browser = await launch())));
after(() => browser?.close());

// Exports a capture as a page. Returns its URL and its data, decoded as the page decodes them.
async function exported(name: string): Promise<{ url: string; run: Run; source: EmbeddedSource }> {
  const path = join(folder, `${name}.html`);
  xlaprof('report', join(captures, name), '--format', 'html', '-o', path, '--force');
  const html = readFileSync(path, 'utf8');
  const element = (id: string) =>
    html.match(new RegExp(`<script id="${id}"[^>]*>([^]*?)</script>`))![1];
  const block = (id: string) => async () =>
    new Uint8Array(element(id) ? inflateRawSync(Buffer.from(element(id), 'base64')) : []);
  const source = await EmbeddedSource.open(outlineOf(JSON.parse(element('run'))), {
    findings: () => JSON.parse(element('findings')),
    slices: block('slices'),
    totals: block('totals'),
    arguments: block('arguments'),
    flows: block('flows'),
  });
  await source.conclude();
  return { url: pathToFileURL(path).href, run: source.run, source };
}

// A file contains only the beginnings of long names.
const brief = (event: EventPlace | null) =>
  event && [event.id, event.lane, event.row, event.ts_ns, event.dur_ns, event.name.slice(0, 200)];

// Returns the parts of an event in which two sources must agree. Each may order equal items as it
// likes.
function plain(detail: EventDetail): unknown {
  return [
    brief(detail),
    detail.category,
    detail.arguments.map((argument) => JSON.stringify(argument)).sort(),
    detail.flows.map((flow) => JSON.stringify([flow.direction, brief(flow.event)])).sort(),
    { ...detail.totals, mean_ns: Math.floor(detail.totals?.mean_ns ?? 0) },
  ];
}

const byName = (range: RangeTotals) =>
  range.rows.map((row) => JSON.stringify({ ...row, mean_ns: Math.floor(row.mean_ns) })).sort();

for (const name of skip ? ['none'] : readdirSync(captures).sort()) {
  test(`${name}: opens from disk, and each finding can be looked at`, { skip }, async () => {
    const { url, run } = await exported(name);
    const { page, wrongs } = await open(browser, url);
    const { findings } = run.report;
    assert.equal(await page.locator('.finding').count(), findings.length);
    for (let i = 0; i < findings.length; ++i) {
      await page.click(`.finding >> nth=${i}`);
      await settled(page);
      const title = await page.locator('.finding-panel h3').innerText();
      assert.ok(findings.some((finding) => prose(finding.title) === title));
      if (run.reasons[i]) assert.ok((await page.locator('.reason').count()) <= 1);
    }
    assert.deepEqual(wrongs, []);
    await page.context().close();
  });

  test(`${name}: the server and the page give the same answers`, { skip }, async () => {
    const { run, source } = await exported(name);
    const { url, end } = await served(join(captures, name));
    try {
      const ask = async (question: string) => {
        const answer = await fetch(url + question);
        return answer.ok ? answer.json() : null;
      };
      const outline = outlineOf((await ask('run.json')) as OutlineJson);
      const ours = { ...outline, ...(await ask('findings.json')) } as Run;
      assert.deepEqual(ours, run);
      const lanes = run.lanes.filter(({ kind }) => kind !== 'counter').map(({ id }) => id);
      const last = run.span.end_ns;
      for (const [from, to] of [
        [0, last + 1],
        [Math.floor(last / 3), Math.floor(last / 2)],
        [Math.floor(last * 0.7), Math.floor(last * 0.7) + 1e6],
      ]) {
        const asked = `range?lanes=${lanes.join(',')}&from_ns=${from}&to_ns=${to}`;
        const theirs = (await ask(asked)) as RangeTotals;
        const own = await source.range(lanes, from, to);
        assert.equal(own.left_out, theirs.left_out);
        if (own.left_out === 0) assert.deepEqual(byName(own), byName(theirs));
      }
      for (const text of ['execute', 'step', 'Compile', 'no such name'])
        for (const direction of ['next', 'previous'] as const)
          for (const ts of [-1, Math.floor(last / 2)]) {
            const theirs = (await ask(
              `search?text=${encodeURIComponent(text)}&direction=${direction}&ts_ns=${ts}&id=5`,
            )) as Found;
            const own = await source.search({ text, direction, ts, id: 5 });
            assert.deepEqual(
              [own.count, own.index, brief(own.event)],
              [theirs.count, theirs.index, brief(theirs.event)],
            );
          }
      const events = run.lanes.reduce((sum, lane) => sum + lane.events, 0);
      for (let id = 1; id <= events; id += Math.max(1, Math.floor(events / 40))) {
        const theirs = (await ask(`event?id=${id}`)) as EventDetail | null;
        const own = await source.event(id).catch(() => null);
        assert.deepEqual(own && plain(own), theirs && plain(theirs));
      }
    } finally {
      end();
    }
  });
}
