// Whom the viewer asks: the server that it came from, or the file that it is in. Both answer in the
// forms of docs/formats/view.md, here already decoded. Times are ns since the view's origin.
import type { Names } from './names.ts';
import type { Run } from './run.ts';

// Slices of one row, sorted by ts; they don't overlap. `name` is an index into Names.
export interface SliceRow {
  ts: Float64Array;
  dur: Float64Array; // kNeverEnded: no end is known
  name: Uint32Array;
  category: Uint8Array; // index into run.categories
  count: Uint32Array; // events that were merged into it
  id: Float64Array; // of the longest of them
}

export const kNeverEnded = -1;

// Samples of a counter, sorted by ts. A merged one has the least and greatest of what it stands for.
export interface CounterRow {
  ts: Float64Array;
  least: Float64Array;
  greatest: Float64Array;
  last: Float64Array;
}

// What is known of a lane between `from` and `to`: slices, or the samples of a counter.
export interface LanePart {
  lane: number;
  from: number;
  to: number;
  resolution: number; // shorter slices are merged; 0: none
  rows: SliceRow[];
  samples: CounterRow | null;
}

export interface EventPlace {
  id: number;
  lane: number;
  row: number;
  ts_ns: number;
  dur_ns: number | null; // null: never ended
  name: string;
}

export interface Totals {
  name: string;
  category: string;
  count: number;
  total_ns: number;
  self_ns: number;
  mean_ns: number;
  p99_ns: number;
  max_ns: number;
}

export interface EventDetail extends EventPlace {
  category: string;
  arguments: [key: string, value: string, type: string][];
  flows: { direction: 'in' | 'out'; event: EventPlace }[];
  totals: Totals | null;
}

export interface RangeTotals {
  rows: Totals[];
  left_out: number;
}

export interface Found {
  count: number;
  index: number | null; // of `event`, from 0, in the order of (ts_ns, id)
  names: number[]; // indexes into Names
  event: EventPlace | null;
}

export interface SlicesAsked {
  lanes: number[];
  from: number;
  to: number;
  resolution: number;
}

export interface SearchAsked {
  text: string;
  direction: 'next' | 'previous';
  ts: number;
  id: number;
}

// Every question rejects with an Error that says what went wrong, or with an AbortError.
export interface Source {
  readonly run: Run; // another one, with the findings, after conclude()
  readonly names: Names;
  conclude(): Promise<void>;
  slices(asked: SlicesAsked, signal: AbortSignal): Promise<LanePart[]>;
  event(id: number): Promise<EventDetail>;
  range(lanes: number[], from: number, to: number): Promise<RangeTotals>;
  search(asked: SearchAsked): Promise<Found>;
}
