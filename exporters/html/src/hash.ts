// Encodes the part of the state that a link carries, in the address after #.
import type { EventPlace } from './source.ts';
import type { State } from './state.ts';

export type Linked = Pick<
  State,
  | 'from'
  | 'to'
  | 'scroll'
  | 'finding'
  | 'event'
  | 'range'
  | 'flags'
  | 'query'
  | 'pinned'
  | 'folded'
  | 'deep'
  | 'filter'
  | 'panel'
>;

// The place of the event that a search found.
export type Place = Pick<EventPlace, 'ts_ns' | 'id'>;

export function hashOf(state: Linked & { found: { event: Place | null } | null }): string {
  const parts: [string, string][] = [['v', span(state)]];
  const add = (key: string, value: string) => value !== '' && parts.push([key, value]);
  if (state.scroll > 0) add('y', state.scroll.toFixed(2));
  if (state.finding !== null) add('f', String(state.finding));
  if (state.event !== null) add('e', String(state.event));
  if (state.range !== null) {
    add('r', span(state.range));
    add('l', state.range.lanes?.join(',') ?? '');
  }
  add('m', state.flags.map(span).join(';'));
  add('q', encodeURIComponent(state.query));
  if (state.found?.event) add('n', `${state.found.event.ts_ns},${state.found.event.id}`);
  add('p', state.pinned.join(','));
  add('c', state.folded.join(','));
  add('d', state.deep.join(','));
  add('k', encodeURIComponent(state.filter));
  if (state.panel !== null) add('b', state.panel);
  return '#' + parts.map(([key, value]) => `${key}=${value}`).join('&');
}

// Returns the state that `hash` contains. Invalid parts are ignored, because a link may contain
// anything.
export function fromHash(hash: string): Partial<Linked> & { found?: Place } {
  const linked: Partial<Linked> & { found?: Place } = {};
  const said = new Map(
    hash
      .replace(/^#/, '')
      .split('&')
      .map((part) => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]),
  );
  const window = spanFrom(said.get('v'));
  if (window !== null) Object.assign(linked, window);
  const range = spanFrom(said.get('r'));
  if (range !== null) linked.range = { ...range, lanes: numbers(said.get('l')) };
  const flags = said.get('m')?.split(';').map(spanFrom);
  if (flags) linked.flags = flags.filter((flag) => flag !== null);
  const whole = (key: string) => numbers(said.get(key))?.[0];
  if (whole('y') !== undefined) linked.scroll = Math.max(0, whole('y')!);
  if (whole('f') !== undefined) linked.finding = whole('f')!;
  if (whole('e') !== undefined) linked.event = whole('e')!;
  linked.query = decoded(said.get('q') ?? '');
  const found = numbers(said.get('n'));
  if (found?.length === 2) linked.found = { ts_ns: found[0], id: found[1] };
  linked.pinned = numbers(said.get('p')) ?? [];
  linked.folded = said.get('c')?.split(',') ?? [];
  linked.deep = numbers(said.get('d')) ?? [];
  linked.filter = decoded(said.get('k') ?? '');
  const panel = said.get('b');
  if (panel === 'finding' || panel === 'event' || panel === 'range') linked.panel = panel;
  return linked;
}

function span({ from, to }: { from: number; to: number }): string {
  return `${Math.round(from)},${Math.round(to)}`;
}

function spanFrom(text: string | undefined): { from: number; to: number } | null {
  const values = numbers(text);
  if (values === null || values.length !== 2) return null;
  return values[0] <= values[1] ? { from: values[0], to: values[1] } : null;
}

function numbers(text: string | undefined): number[] | null {
  const values = text?.split(',').map(Number);
  return values !== undefined && text !== '' && values.every(Number.isFinite) ? values : null;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
