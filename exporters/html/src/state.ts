// What the viewer shows: all that its parts share.
import type { EventDetail, Found, RangeTotals } from './source.ts';

export type Theme = 'system' | 'light' | 'dark';
export type Panel = 'finding' | 'event' | 'range';

export interface Span {
  from: number;
  to: number;
}

export interface Range extends Span {
  lanes: number[] | null; // null: all
}

export interface State {
  concluded: boolean; // the findings are there
  from: number; // the window of time, ns
  to: number;
  scroll: number; // of the lanes, in rows' heights
  finding: number | null; // index in run.report.findings
  event: number | null; // id
  detail: EventDetail | null; // of that event, once it is known
  range: Range | null;
  totals: RangeTotals | null; // of that range, once they are known
  flags: Span[]; // what `m` marked
  query: string;
  found: Found | null;
  matches: Uint8Array | null; // by index of a name: 1 where it contains the query
  pinned: number[]; // lanes
  folded: string[]; // keys of bands
  deep: number[]; // lanes that show all their rows, however many
  panel: Panel | null;
  theme: Theme;
  help: boolean;
  said: string; // for screen readers
  trouble: string; // a question that was not answered; "": none
}

export const kInitial: State = {
  concluded: false,
  from: 0,
  to: 1,
  scroll: 0,
  finding: null,
  event: null,
  detail: null,
  range: null,
  totals: null,
  flags: [],
  query: '',
  found: null,
  matches: null,
  pinned: [],
  folded: [],
  deep: [],
  panel: null,
  theme: 'system',
  help: false,
  said: '',
  trouble: '',
};
