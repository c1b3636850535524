// Tests which slices are requested while the window moves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyRow } from '../src/decode.ts';
import { Names } from '../src/names.ts';
import type { LanePart, SlicesAsked, Source } from '../src/source.ts';
import { Supply } from '../src/supply.ts';
import { makeTraining } from './training.ts';

const end = 1_000_000_000;
const slicesOfALane = 10_000;

// Makes a source of lanes with many slices, whose answers wait until the test releases them.
function makeSource(answer: (asked: SlicesAsked) => LanePart[] = partsFor) {
  const { run } = makeTraining();
  const asked: { asked: SlicesAsked; signal: AbortSignal; letGo: () => void }[] = [];
  const source = {
    run: { ...run, span: { ...run.span, end_ns: end } },
    names: new Names(),
    slices: (question: SlicesAsked, signal: AbortSignal) =>
      new Promise<LanePart[]>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
        asked.push({ asked: question, signal, letGo: () => resolve(answer(question)) });
      }),
  } as unknown as Source;
  return { source, asked };
}

function partsFor({ lanes, from, to, resolution }: SlicesAsked): LanePart[] {
  return lanes.map((lane) => ({
    lane,
    from,
    to,
    resolution,
    rows: [emptyRow(slicesOfALane)],
    samples: null,
  }));
}

const failed = (error: Error) => assert.fail(error);
const wantedOf = (from: number, to: number, lanes = [1, 2]) => ({
  lanes,
  from,
  to,
  perPixel: (to - from) / 1000,
});

const kNever = 60_000; // ms; even a slow machine does not take this long

async function until(condition: () => boolean): Promise<void> {
  for (const begin = Date.now(); !condition(); await new Promise((done) => setTimeout(done, 5)))
    if (Date.now() - begin > kNever) throw new Error(`never: ${condition}`);
}

test('three times the window, at half a pixel, one question at a time', async () => {
  const { source, asked } = makeSource();
  let arrived = 0;
  const supply = new Supply(source, () => ++arrived, failed);
  supply.want(wantedOf(400e6, 500e6));
  supply.want(wantedOf(401e6, 501e6));
  await until(() => asked.length > 0);
  assert.equal(asked.length, 1);
  assert.deepEqual(asked[0].asked, { lanes: [1, 2], from: 301e6, to: 601e6, resolution: 2 ** 15 });
  asked[0].letGo();
  await until(() => arrived === 1);
  supply.want(wantedOf(301e6, 401e6));
  assert.equal(supply.parts.get(1)!.from, 301e6);
  assert.equal(asked.length, 1, 'what is there is not asked again');
});

test('what is drawn is kept until something better comes', async () => {
  const { source, asked } = makeSource();
  let arrived = 0;
  const supply = new Supply(source, () => ++arrived, failed);
  supply.want(wantedOf(0, end));
  await until(() => asked.length === 1);
  asked[0].letGo();
  await until(() => arrived === 1);
  const coarse = supply.parts.get(1);
  supply.want(wantedOf(500e6, 501e6));
  await until(() => asked.length === 2);
  assert.equal(supply.parts.get(1), coarse);
  assert.equal(asked[1].asked.resolution, 0);
  asked[1].letGo();
  await until(() => arrived === 2);
  assert.equal(supply.parts.get(1)!.resolution, 0);
});

test('an outdated question is given up, and the right one asked', async () => {
  const { source, asked } = makeSource();
  let arrived = 0;
  const supply = new Supply(source, () => ++arrived, failed);
  supply.want(wantedOf(100e6, 110e6));
  await until(() => asked.length === 1);
  supply.want(wantedOf(800e6, 810e6));
  assert.ok(asked[0].signal.aborted);
  await until(() => asked.length === 2);
  assert.deepEqual([asked[1].asked.from, asked[1].asked.to], [790e6, 820e6]);
  asked[1].letGo();
  await until(() => arrived === 1);
});

test('a lane of which there is nothing, and one that is never fine, are not asked for ever', async () => {
  const { source, asked } = makeSource(({ lanes }) =>
    lanes.includes(1)
      ? [{ lane: 1, from: 0, to: end, resolution: 1 << 20, rows: [emptyRow(9)], samples: null }]
      : [],
  );
  let arrived = 0;
  const supply = new Supply(source, () => ++arrived, failed);
  supply.want(wantedOf(10e6, 10e6 + 1000));
  await until(() => asked.length === 1);
  asked[0].letGo();
  await until(() => arrived === 1);
  supply.want(wantedOf(10e6, 10e6 + 500));
  await new Promise((done) => setTimeout(done));
  assert.equal(asked.length, 1);
  assert.equal(supply.parts.get(2)!.rows.length, 0);
});

test('a source that does not answer is told, and asked again when more is drawn, a little later', async () => {
  const { run } = makeTraining();
  const failures: string[] = [];
  let questions = 0;
  const source = {
    run,
    names: new Names(),
    slices: () => (++questions, Promise.reject(new Error('gone'))),
  } as unknown as Source;
  const supply = new Supply(
    source,
    () => assert.fail(),
    (error) => failures.push(error.message),
  );
  supply.want(wantedOf(0, 1e9));
  await until(() => failures.length === 1);
  await until(() => {
    supply.want(wantedOf(0, 1e9));
    return failures.length === 2;
  });
  assert.equal(questions, 2);
});

test('lanes that are out of sight are forgotten when they are many', async () => {
  const big = (asked: SlicesAsked) =>
    partsFor(asked).map((part) => ({ ...part, rows: [emptyRow(400_000)] }));
  const { source, asked } = makeSource(big);
  let arrived = 0;
  const supply = new Supply(source, () => ++arrived, failed);
  for (const lane of [1, 2, 3, 4, 5]) {
    supply.want(wantedOf(0, end, [lane]));
    await until(() => asked.length === lane);
    asked[lane - 1].letGo();
    await until(() => arrived === lane);
  }
  assert.deepEqual([...supply.parts.keys()], [3, 4, 5]);
});
