import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Arguments } from '../src/arguments.ts';
import { Bytes } from '../src/bytes.ts';
import { decodeSlices, firstVisible, upperBound } from '../src/decode.ts';
import { Flows } from '../src/flows.ts';
import { Names } from '../src/names.ts';
import { encodeArguments, encodeFlows, encodeSlices, Writer } from './encode.ts';

test('integers of every length come back', () => {
  const values = [0, 1, 127, 128, 16383, 16384, 2 ** 31, 2 ** 32 + 5, 2 ** 51 + 1];
  const writer = new Writer();
  for (const value of values) writer.varint(value).zigzag(value).zigzag(-value);
  const bytes = new Bytes(writer.bytes());
  for (const value of values) {
    assert.equal(bytes.varint(), value);
    assert.equal(bytes.zigzag(), value);
    assert.equal(bytes.zigzag(), value === 0 ? 0 : -value);
  }
});

test('64 bits are exact where they matter', () => {
  const bytes = new Bytes(
    new Writer()
      .varint(2n ** 64n - 1n)
      .zigzag(-(2n ** 63n))
      .bytes(),
  );
  assert.equal(bytes.bigVarint(), 2n ** 64n - 1n);
  assert.equal(bytes.bigZigzag(), -(2n ** 63n));
});

const texts = new Map([
  [7, 'aten::mul'],
  [9, 'x'.repeat(1000)],
]);

function encoded() {
  const rows = [
    [
      { ts: -5, dur: 10, name: 7, category: 2, id: 100 },
      { ts: 20, dur: -1, name: 9, category: 0, id: 90 },
    ],
    [],
  ];
  const samples = [
    { ts: 3, value: 1.5 },
    { ts: 8, value: -2 },
  ];
  return encodeSlices(
    [
      { id: 4, rows, samples: null },
      { id: 5, rows: [], samples },
    ],
    1000,
    texts,
  );
}

test('slices, samples and names are what was written', () => {
  const names = new Names();
  const [lane, counter] = decodeSlices(encoded(), names);
  assert.deepEqual(
    { lane: lane.lane, from: lane.from, to: lane.to, resolution: lane.resolution },
    { lane: 4, from: 0, to: 1000, resolution: 0 },
  );
  assert.equal(lane.rows.length, 2);
  const row = lane.rows[0];
  assert.deepEqual([...row.ts], [-5, 20]);
  assert.deepEqual([...row.dur], [10, -1]);
  assert.deepEqual([...row.id], [100, 90]);
  assert.deepEqual([...row.category], [2, 0]);
  assert.equal(names.text(row.name[0]), 'aten::mul');
  assert.equal(names.text(row.name[1]), 'x'.repeat(253) + '…');
  assert.deepEqual([...counter.samples!.ts], [3, 8]);
  assert.deepEqual([...counter.samples!.last], [1.5, -2]);
});

test('data that are cut anywhere are refused', () => {
  const whole = encoded();
  for (let length = 0; length < whole.length; ++length)
    assert.throws(() => decodeSlices(whole.subarray(0, length), new Names()), `cut at ${length}`);
});

test('a count that cannot be is refused before memory is taken', () => {
  const lying = new Writer()
    .varint(1)
    .varint(4)
    .varint(0)
    .zigzag(0)
    .zigzag(9)
    .varint(0)
    .varint(1)
    .varint(2 ** 40)
    .bytes();
  assert.throws(() => decodeSlices(lying, new Names()), /ends early/);
});

test('arguments of every type are found by their event', () => {
  const bytes = encodeArguments(
    [
      [
        3,
        [
          [7, 0, -9007199254740993n],
          [7, 1, 2n ** 64n - 1n],
        ],
      ],
      [
        50,
        [
          [7, 2, 0.5],
          [7, 3, 9],
          [9, 4, 7],
        ],
      ],
    ],
    texts,
  );
  const args = new Arguments(bytes);
  assert.deepEqual(args.of(3), [
    ['aten::mul', '-9007199254740993', 'int'],
    ['aten::mul', '18446744073709551615', 'uint'],
  ]);
  assert.deepEqual(args.of(50)[0], ['aten::mul', '0.5', 'double']);
  assert.deepEqual(args.of(50)[1], ['aten::mul', 'x'.repeat(1000), 'string']);
  assert.deepEqual(args.of(50)[2], ['x'.repeat(1000), 'aten::mul', 'bytes']);
  assert.deepEqual(args.of(4), []);
  assert.deepEqual(new Arguments(new Uint8Array(0)).of(3), []);
});

test('flows are found from both ends', () => {
  const flows = new Flows(
    encodeFlows([
      [5, 9],
      [5, 2],
      [2, 5],
    ]),
  );
  assert.deepEqual(flows.of(5), [
    { direction: 'in', other: 2 },
    { direction: 'out', other: 9 },
    { direction: 'out', other: 2 },
  ]);
  assert.deepEqual(new Flows(new Uint8Array(0)).of(5), []);
});

test('the first slice that can be seen', () => {
  const row = decodeSlices(encoded(), new Names())[0].rows[0]; // [-5, 5), then [20, ∞)
  assert.equal(firstVisible(row, -100), 0);
  assert.equal(firstVisible(row, 5), 0);
  assert.equal(firstVisible(row, 6), 1);
  assert.equal(firstVisible(row, 1e6), 1);
  assert.equal(upperBound(row.ts, 20), 2);
  assert.equal(upperBound(row.ts, 19), 1);
});
