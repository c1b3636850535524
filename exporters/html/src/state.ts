// The state that all parts of the viewer share.
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
  concluded: boolean; // the findings have arrived
  from: number; // the window of time, ns
  to: number;
  scroll: number; // position of the lanes, in heights of a row
  finding: number | null; // index in run.report.findings
  event: number | null; // id
  detail: EventDetail | null; // details of that event, when they have arrived
  range: Range | null;
  totals: RangeTotals | null; // totals of that range, when they have arrived
  flags: Span[]; // the marks that the key M made
  query: string;
  found: Found | null;
  matches: Uint8Array | null; // by index of a name: 1 where it contains the query
  pinned: number[]; // ids of lanes
  folded: string[]; // keys of bands; as in Arrangement
  deep: number[]; // lanes that show all their rows
  filter: string; // of lanes, by name
  panel: Panel | null;
  theme: Theme;
  help: boolean;
  said: string; // for screen readers
  trouble: string; // the message of the latest error; "" if there is none
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
  filter: '',
  panel: null,
  theme: 'system',
  help: false,
  said: '',
  trouble: '',
};
