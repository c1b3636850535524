// Encodes data as docs/formats/view.md says that an exporter writes them.
import { deflateRawSync } from 'node:zlib';
import { EmbeddedSource } from '../src/embedded.ts';
import {
  type Conclusions,
  kNoConclusions,
  outlineOf,
  type OutlineJson,
  type Run,
} from '../src/run.ts';

export class Writer {
  private readonly out: number[] = [];

  varint(value: number | bigint): this {
    if (typeof value === 'bigint') {
      for (; value >= 0x80n; value >>= 7n) this.out.push(Number(value & 0x7fn) | 0x80);
      value = Number(value);
    }
    for (; value >= 0x80; value = Math.floor(value / 0x80)) this.out.push(value % 0x80 | 0x80);
    this.out.push(value);
    return this;
  }

  zigzag(value: number | bigint): this {
    if (typeof value === 'number') return this.varint(value < 0 ? -2 * value - 1 : 2 * value);
    const wide = value;
    return this.varint(BigInt.asUintN(64, (wide << 1n) ^ (wide >> 63n)));
  }

  double(value: number): this {
    this.out.push(...new Uint8Array(new Float64Array([value]).buffer));
    return this;
  }

  text(text: string, most: number): this {
    let bytes = Buffer.from(text);
    if (bytes.length > most)
      bytes = Buffer.from(
        bytes
          .subarray(0, most - 3)
          .toString()
          .replace(/\ufffd+$/, '') + '…',
      );
    this.varint(bytes.length);
    for (const byte of bytes) this.out.push(byte);
    return this;
  }

  bytes(): Uint8Array {
    return Uint8Array.from(this.out);
  }
}

export interface Slice {
  ts: number;
  dur: number; // -1: the slice never ended
  name: number; // id of a text
  category: number;
  id: number;
  count?: number; // events that were merged into the slice
}

export interface Sample {
  ts: number;
  value: number;
}

export interface LaneEvents {
  id: number;
  rows: Slice[][];
  samples: Sample[] | null;
  resolution?: number; // ns; shorter slices are merged
}

export type Texts = Map<number, string>;

export function encodeSlices(lanes: LaneEvents[], end: number, texts: Texts): Uint8Array {
  const out = new Writer().varint(lanes.length);
  const used = new Set<number>();
  for (const { id, rows, samples, resolution } of lanes) {
    out
      .varint(id)
      .varint(samples ? 1 : 0)
      .zigzag(0)
      .zigzag(end)
      .varint(resolution ?? 0);
    out.varint(samples ? 1 : rows.length);
    for (const row of samples ? [] : rows) {
      out.varint(row.length);
      let ts = 0;
      let before = 0;
      row.forEach((slice, i) => {
        if (i === 0) out.zigzag(slice.ts);
        else out.varint(slice.ts - ts);
        out
          .varint(slice.dur + 1)
          .varint(slice.name)
          .varint(slice.category)
          .varint(slice.count ?? 1)
          .zigzag(slice.id - before);
        ts = slice.ts;
        before = slice.id;
        used.add(slice.name);
      });
    }
    if (samples) {
      out.varint(samples.length);
      samples.forEach(({ ts, value }, i) => {
        if (i === 0) out.zigzag(ts);
        else out.varint(ts - samples[i - 1].ts);
        out.double(value).double(value).double(value);
      });
    }
  }
  out.varint(used.size);
  for (const id of used) out.varint(id).text(texts.get(id)!, 256);
  return out.bytes();
}

export type Argument = [key: number, type: 0 | 1 | 2 | 3 | 4, value: number | bigint];

export function encodeArguments(
  events: [id: number, args: Argument[]][],
  texts: Texts,
): Uint8Array {
  const out = new Writer();
  const used = new Set<number>();
  let before = 0;
  for (const [id, args] of events) {
    out.zigzag(id - before).varint(args.length);
    before = id;
    for (const [key, type, value] of args) {
      used.add(key);
      out.varint(key).varint(type);
      if (type === 0) out.zigzag(value);
      else if (type === 2) out.double(Number(value));
      else out.varint(value);
      if (type >= 3) used.add(Number(value));
    }
  }
  out.zigzag(-before).varint(used.size);
  for (const id of used) out.varint(id).text(texts.get(id)!, 4096);
  return out.bytes();
}

export function encodeFlows(flows: [from: number, to: number][]): Uint8Array {
  const out = new Writer().varint(flows.length);
  let before = 0;
  for (const [from, to] of flows) {
    out.zigzag(from - before).zigzag(to - from);
    before = from;
  }
  return out.bytes();
}

// Returns the run.json and the findings.json of a run.
export function halves(run: Run): [OutlineJson, Conclusions] {
  const isConclusion = (key: string) => key in kNoConclusions;
  const part = (wanted: boolean) =>
    Object.fromEntries(Object.entries(run).filter(([key]) => isConclusion(key) === wanted));
  const columns = ['process', 'number', 'ts_ns', 'dur_ns', 'warm_up'] as const;
  const steps = Object.fromEntries(columns.map((key) => [key, run.steps.map((step) => step[key])]));
  return [
    { ...part(false), steps } as unknown as OutlineJson,
    part(true) as unknown as Conclusions,
  ];
}

export interface NameFigures {
  name: number; // id of a text
  count: number;
  total: number;
  p99: number;
  max: number;
  self: number;
}

export function encodeTotals(lanes: Map<number, NameFigures[]>, texts: Texts): Uint8Array {
  const out = new Writer();
  const used = new Set<number>();
  for (const [lane, figures] of lanes) {
    out.varint(lane).varint(0).varint(figures.length);
    for (const { name, count, total, p99, max, self } of figures) {
      used.add(name);
      out.varint(name).varint(0).varint(count).varint(total).varint(p99).varint(max).zigzag(self);
    }
  }
  out.varint(0).varint(used.size);
  for (const id of used) out.varint(id).text(texts.get(id)!, 256);
  return out.bytes();
}

export interface Data {
  run: Run;
  slices: Uint8Array;
  totals?: Uint8Array; // if slices are merged
  arguments: Uint8Array;
  flows: Uint8Array;
}

// Opens the data as the page opens its file.
export function sourceOf(data: Data): Promise<EmbeddedSource> {
  const [outline, conclusions] = halves(data.run);
  return EmbeddedSource.open(outlineOf(outline), {
    findings: () => conclusions,
    slices: async () => data.slices,
    totals: async () => data.totals ?? new Uint8Array(0),
    arguments: async () => data.arguments,
    flows: async () => data.flows,
  });
}

// Returns the page with the data in it, as `xlaprof export --format html` writes it.
export function fileOf(page: string, data: Data): string {
  const packed = (bytes: Uint8Array) =>
    bytes.length === 0 ? '' : deflateRawSync(bytes).toString('base64');
  const [outline, conclusions] = halves(data.run);
  const json = (value: unknown) => JSON.stringify(value).replace(/</g, '\\u003c');
  return page.replace(
    '<!--data-->',
    () =>
      `<script id="run" type="application/json">${json(outline)}</script>` +
      `<script id="findings" type="application/json">${json(conclusions)}</script>` +
      (['slices', 'totals', 'arguments', 'flows'] as const)
        .map(
          (block) =>
            `<script id="${block}" type="text/plain">${packed(data[block] ?? new Uint8Array(0))}</script>`,
        )
        .join(''),
  );
}
