// The source for a page that `xlaprof view` serves. It asks that server.
import { decodeSlices } from './decode.ts';
import { Names } from './names.ts';
import { kNoConclusions, type Outline, outlineOf, type Run } from './run.ts';
import type {
  EventDetail,
  Found,
  LanePart,
  RangeTotals,
  SearchAsked,
  SlicesAsked,
  Source,
} from './source.ts';

type Question = Record<string, string | number>;

export class ServedSource implements Source {
  readonly names = new Names();
  readonly mergedBelow = 0;

  run: Run;

  private constructor(outline: Outline) {
    this.run = { ...outline, ...kNoConclusions };
  }

  static async open(): Promise<ServedSource> {
    return new ServedSource(outlineOf(await (await ask('run.json', {})).json()));
  }

  async conclude(): Promise<void> {
    this.run = { ...this.run, ...(await (await ask('findings.json', {})).json()) };
  }

  async slices(asked: SlicesAsked, signal: AbortSignal): Promise<LanePart[]> {
    const answer = await ask(
      'slices',
      {
        lanes: asked.lanes.join(','),
        from_ns: Math.floor(asked.from),
        to_ns: Math.ceil(asked.to),
        resolution_ns: Math.floor(asked.resolution),
      },
      signal,
    );
    return decodeSlices(new Uint8Array(await answer.arrayBuffer()), this.names);
  }

  async event(id: number): Promise<EventDetail> {
    return (await ask('event', { id })).json();
  }

  async range(lanes: number[], from: number, to: number): Promise<RangeTotals> {
    const question: Question = { from_ns: Math.floor(from), to_ns: Math.ceil(to) };
    // A URL cannot hold thousands of lanes, so a request for all lanes names none.
    const named = new Set(lanes);
    if (!this.run.lanes.every(({ id, kind }) => kind === 'counter' || named.has(id)))
      question.lanes = lanes.join(',');
    return (await ask('range', question)).json();
  }

  async search({ text, direction, ts, id }: SearchAsked): Promise<Found> {
    const found: Found = await (await ask('search', { text, direction, ts_ns: ts, id })).json();
    return { ...found, names: found.names.map((name) => this.names.index(name)) };
  }
}

async function ask(address: string, question: Question, signal?: AbortSignal): Promise<Response> {
  const parts = Object.entries(question).map(
    ([key, value]) => `${key}=${encodeURIComponent(value)}`,
  );
  const url = parts.length === 0 ? address : `${address}?${parts.join('&')}`;
  let answer: Response;
  try {
    answer = await fetch(url, { signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Error('xlaprof view does not respond. Is it still running?');
  }
  if (!answer.ok) throw new Error((await answer.text()).trim() || `${address}: ${answer.status}`);
  return answer;
}
