// Decodes the answer to `slices`.
import { Bytes } from './bytes.ts';
import type { Names } from './names.ts';
import { type CounterRow, kNeverEnded, type LanePart, type SliceRow } from './source.ts';

export function decodeSlices(bytes: Uint8Array, names: Names): LanePart[] {
  const from = new Bytes(bytes);
  const parts = Array.from({ length: from.count() }, () => decodeLane(from, names));
  for (let n = from.count(); n > 0; --n) names.set(from.varint(), from.text());
  return parts;
}

function decodeLane(bytes: Bytes, names: Names): LanePart {
  const lane = bytes.varint();
  const isCounter = bytes.varint() === 1;
  const from = bytes.zigzag();
  const to = bytes.zigzag();
  const resolution = bytes.varint();
  const part: LanePart = { lane, from, to, resolution, rows: [], samples: null };
  for (let row = bytes.count(); row > 0; --row) {
    if (isCounter) part.samples = decodeSamples(bytes, from);
    else part.rows.push(decodeRow(bytes, from, names));
  }
  return part;
}

export function emptyRow(n: number): SliceRow {
  return {
    ts: new Float64Array(n),
    dur: new Float64Array(n),
    name: new Uint32Array(n),
    category: new Uint8Array(n),
    count: new Uint32Array(n),
    id: new Float64Array(n),
  };
}

function decodeRow(bytes: Bytes, from: number, names: Names): SliceRow {
  const n = bytes.count();
  const row = emptyRow(n);
  let ts = from;
  let id = 0;
  for (let i = 0; i < n; ++i) {
    ts += i === 0 ? bytes.zigzag() : bytes.varint();
    row.ts[i] = ts;
    row.dur[i] = bytes.varint() - 1; // 0 encodes kNeverEnded
    row.name[i] = names.index(bytes.varint());
    row.category[i] = bytes.varint();
    row.count[i] = bytes.varint();
    id += bytes.zigzag();
    row.id[i] = id;
  }
  return row;
}

export function emptySamples(n: number): CounterRow {
  return {
    ts: new Float64Array(n),
    least: new Float64Array(n),
    greatest: new Float64Array(n),
    last: new Float64Array(n),
  };
}

function decodeSamples(bytes: Bytes, from: number): CounterRow {
  const n = bytes.count();
  const samples = emptySamples(n);
  let ts = from;
  for (let i = 0; i < n; ++i) {
    ts += i === 0 ? bytes.zigzag() : bytes.varint();
    samples.ts[i] = ts;
    samples.least[i] = bytes.double();
    samples.greatest[i] = bytes.double();
    samples.last[i] = bytes.double();
  }
  return samples;
}

// Returns the index of the first element of sorted `values` that is greater than `value`.
export function upperBound(
  values: Float64Array,
  value: number,
  low = 0,
  high = values.length,
): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Returns the index of the first slice of the row that ends at or after `ts`.
export function firstVisible(row: SliceRow, ts: number): number {
  let i = upperBound(row.ts, ts) - 1;
  if (i < 0) return 0;
  // Several instants may have the same start.
  while (i > 0 && row.ts[i] === ts && row.ts[i - 1] === ts) --i;
  const dur = row.dur[i];
  return dur === kNeverEnded || row.ts[i] + dur >= ts ? i : i + 1;
}
