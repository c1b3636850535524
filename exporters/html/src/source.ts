// The source of the viewer's data: the server that the page came from, or the page's own file. Both
// answer as docs/formats/view.md describes. Here the answers are decoded. Times are ns since the
// view's origin.
import type { Names } from './names.ts';
import type { Run } from './run.ts';

// Slices of one row, sorted by ts; they don't overlap. `name` is an index into Names.
export interface SliceRow {
  ts: Float64Array;
  dur: Float64Array; // kNeverEnded if no end is known
  name: Uint32Array;
  category: Uint8Array; // index into run.categories
  count: Uint32Array; // number of events that were merged into the slice
  id: Float64Array; // id of the longest of these events
}

export const kNeverEnded = -1;

// Samples of a counter, sorted by ts. A merged sample has the least and greatest value of its
// samples.
export interface CounterRow {
  ts: Float64Array;
  least: Float64Array;
  greatest: Float64Array;
  last: Float64Array;
}

// The known part of a lane, between `from` and `to`: slices, or the samples of a counter.
export interface LanePart {
  lane: number;
  from: number;
  to: number;
  resolution: number; // shorter slices are merged; 0: no slices are merged
  rows: SliceRow[];
  samples: CounterRow | null;
}

export interface EventPlace {
  id: number;
  lane: number;
  row: number;
  ts_ns: number;
  dur_ns: number | null; // null: the event never ended
  name: string;
}

export interface Totals {
  name: string;
  category: string;
  count: number;
  total_ns: number;
  self_ns: number | null; // null, here and below: merged slices do not tell it
  mean_ns: number;
  p99_ns: number | null;
  max_ns: number;
}

export interface EventDetail extends EventPlace {
  // The number of events that the slice stands for, if the source has them only merged. The name
  // and id are those of the longest of them; start and duration are those of the slice.
  merged?: number;
  category: string;
  arguments: [key: string, value: string, type: string][];
  flows: { direction: 'in' | 'out'; event: EventPlace }[];
  totals: Totals | null;
}

export interface RangeTotals {
  rows: Totals[];
  left_out: number;
  // Set if the source has some events of the range only merged: how many about, and the length that
  // each of them falls short of. No row counts them.
  merged?: { events: number; below: number };
}

export interface Found {
  count: number;
  index: number | null; // index of `event` among the matches, from 0, in the order of (ts_ns, id)
  names: number[]; // indexes into Names
  // Set if the source has some events only merged: the number of all events whose name matches, of
  // which `count` can be shown; null: not known.
  events?: number | null;
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

// Every request may reject with an Error that explains what went wrong, or with an AbortError.
export interface Source {
  readonly run: Run; // conclude() replaces it by one with the findings
  readonly names: Names;
  // Events shorter than this, in ns, may stand merged in one slice at the finest resolution; 0: none.
  readonly mergedBelow: number;
  conclude(): Promise<void>;
  slices(asked: SlicesAsked, signal: AbortSignal): Promise<LanePart[]>;
  event(id: number): Promise<EventDetail>;
  range(lanes: number[], from: number, to: number): Promise<RangeTotals>;
  search(asked: SearchAsked): Promise<Found>;
}
