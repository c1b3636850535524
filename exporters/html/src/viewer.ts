// The viewer's actions. Panels and canvases read `store`.
import { around, bounded, type Scale, type Window, within, zoomed } from './axis.ts';
import {
  type Band,
  type Bands,
  deviceKey,
  fullName,
  idleKey,
  idleThreads,
  kMostRows,
  matcher,
  pinnedBands,
  scrolledBands,
  sizesFor,
  type Sizes,
} from './bands.ts';
import { firstVisible, upperBound } from './decode.ts';
import { fromHash, type Place } from './hash.ts';
import { laneOf, marksOf, placed, type PlacedDensity, type PlacedMark, placesOf } from './marks.ts';
import type { Lane, Run } from './run.ts';
import { type EventPlace, kNeverEnded, type Source } from './source.ts';
import { kInitial, type Panel, type Range, type Span, type State, type Theme } from './state.ts';
import { Store } from './store.ts';
import { Supply } from './supply.ts';
import { count, duration, mergedText, plural, printable, prose } from './text.ts';
import { rememberTheme, rememberedTheme } from './theme.ts';

// The position of the pointer, and the tooltip of the thing under it.
export interface Hover {
  time: number | null;
  x: number; // CSS pixels of the page
  y: number;
  lines: string[]; // text of the tooltip; empty if there is none
}

export class Viewer {
  readonly store: Store<State>;
  readonly hover = new Store<Hover>({ time: null, x: 0, y: 0, lines: [] });
  readonly supply: Supply;
  marks: PlacedMark[] = []; // the findings' marks, when they have arrived
  densities: PlacedDensity[] = []; // likewise
  readonly sizes: Sizes;
  private height = 400; // CSS pixels; visible height of the scrolled lanes
  private sought: { lane: number; row: number } | null = null; // row to keep in view
  private readonly lanesOf = new Map<string, number[]>(); // shown lanes, by pane
  private isConcluding = false;
  private linkedFinding: number | null = null; // the finding in the link that was followed last
  private turn = 0; // number of the latest request for an event
  private searchTurn = 0;
  private arranged: { state: State; panes: { pinned: Bands; scrolled: Bands } } | null = null;

  constructor(readonly source: Source) {
    this.sizes = sizesFor(parseFloat(getComputedStyle(document.documentElement).fontSize));
    this.store = new Store<State>({ ...kInitial, ...this.everything(), theme: rememberedTheme() });
    let cutOff = ''; // the error message of the last failed request for slices
    this.supply = new Supply(
      source,
      () => {
        const { trouble } = this.store.state;
        this.store.set({ trouble: trouble === cutOff ? '' : trouble });
        // The frame is drawn first, because the analysis of the whole run takes time.
        requestAnimationFrame(() => setTimeout(() => void this.conclude()));
      },
      (error) => {
        cutOff = error.message;
        this.fail(error);
      },
    );
  }

  get run() {
    return this.source.run;
  }

  get window(): Window {
    return { from: this.store.state.from, to: this.store.state.to };
  }

  // Requests the findings once, and shows them. This is called after the first slices have arrived,
  // because the server handles one request at a time.
  async conclude(): Promise<void> {
    if (this.isConcluding) return;
    this.isConcluding = true;
    try {
      await this.source.conclude();
    } catch (error) {
      return this.fail(error as Error);
    }
    ({ marks: this.marks, densities: this.densities } = placed(this.run));
    this.arranged = null;
    this.store.set({ concluded: true, finding: this.known(this.linkedFinding) });
  }

  private known(finding: number | null): number | null {
    return finding !== null && this.run.report.findings[finding] ? finding : null;
  }

  // Shows the view that a link describes.
  follow(hash: string): void {
    const { found, ...linked } = fromHash(hash);
    this.linkedFinding = linked.finding ?? null;
    this.store.set({
      ...this.everything(),
      scroll: 0,
      range: null,
      totals: null,
      flags: [],
      panel: null,
      ...linked,
      finding: this.known(this.linkedFinding),
      event: null,
      detail: null,
      found: null,
      matches: null,
    });
    this.show(this.window);
    if (typeof linked.event === 'number') void this.choose(linked.event, linked.panel ?? 'event');
    if (linked.range) this.measure(linked.range, linked.panel ?? 'range');
    if (linked.query) void this.search(linked.query, 'next', { found });
  }

  // --- the window

  show(window: Window): void {
    this.store.set(bounded(window, this.run.span.end_ns));
  }

  zoom(factor: number, at = (this.window.from + this.window.to) / 2): void {
    this.show(zoomed(this.window, factor, at));
  }

  // Moves the window by a part of its width.
  pan(part: number): void {
    const { from, to } = this.window;
    const by = (to - from) * part;
    this.show({ from: from + by, to: to + by });
  }

  everything(): Window {
    return bounded(around(0, this.run.span.end_ns, 0.01), this.run.span.end_ns);
  }

  // Shows the selection. If the window shows exactly that already, shows the whole run.
  fit(): void {
    const wanted = this.selectedSpan();
    if (wanted === null) return this.show(this.everything());
    const window = bounded(
      within(around(wanted.from, wanted.to - wanted.from), this.everything()),
      this.run.span.end_ns,
    );
    const { from, to } = this.window;
    const isThere = Math.abs(window.from - from) + Math.abs(window.to - to) < (to - from) * 1e-6;
    this.show(isThere ? this.everything() : window);
  }

  private selectedSpan(): Span | null {
    const { panel, detail, range, finding } = this.store.state;
    const event = detail && { from: detail.ts_ns, to: detail.ts_ns + (detail.dur_ns ?? 0) };
    const evidence = this.hull(finding);
    return { event, range, finding: evidence }[panel ?? 'event'] ?? event ?? range ?? evidence;
  }

  private hull(finding: number | null): Span | null {
    const marks = marksOf(this.marks, finding);
    if (marks.length === 0) return null;
    return {
      from: Math.min(...marks.map((mark) => mark.ts_ns)),
      to: Math.max(...marks.map((mark) => mark.end)),
    };
  }

  // Moves the window to the event unless it is visible already.
  private bringIntoView(ts: number, dur: number): void {
    const { from, to } = this.window;
    const width = to - from;
    const isInside = ts >= from && ts + dur <= to;
    if (isInside && dur > width / 400) return;
    if (dur > width / 400 && dur < width * 0.8)
      this.show({ from: ts + dur / 2 - width / 2, to: ts + dur / 2 + width / 2 });
    else this.show(around(ts, dur, 8));
  }

  // --- lanes

  panes(): { pinned: Bands; scrolled: Bands } {
    const { state } = this.store;
    const before = this.arranged?.state;
    const isSame = (['pinned', 'folded', 'deep', 'filter'] as const).every(
      (key) => state[key] === before?.[key],
    );
    if (this.arranged === null || !isSame) {
      const rows = [...this.marks, ...this.densities].map(({ row }) => row);
      const markRows = 1 + rows.reduce((most, row) => Math.max(most, row), -1);
      const arrangement = { ...state, markRows };
      this.arranged = {
        state,
        panes: {
          pinned: pinnedBands(this.run, arrangement, this.sizes),
          scrolled: scrolledBands(this.run, arrangement, this.sizes),
        },
      };
    }
    return this.arranged.panes;
  }

  get paneHeight(): number {
    return this.height;
  }

  // The pane of the scrolled lanes calls this when its height changes. If it becomes lower, for
  // example because a panel opens, the row that the viewer last went to stays in view.
  setPaneHeight(height: number): void {
    this.height = height;
    if (this.sought !== null) this.scrollToSought();
  }

  // Scrolls on the user's request.
  scrollTo(top: number): void {
    this.sought = null;
    this.scrollWithin(top);
  }

  private scrollWithin(top: number): void {
    const most = Math.max(0, this.panes().scrolled.height - this.height);
    const scroll = Math.min(Math.max(0, top), most) / this.sizes.row;
    if (scroll !== this.store.state.scroll) this.store.set({ scroll });
  }

  scrollBy(pixels: number): void {
    this.scrollTo(this.store.state.scroll * this.sizes.row + pixels);
  }

  togglePinned(lane: number): void {
    const { pinned } = this.store.state;
    const isPinned = pinned.includes(lane);
    this.store.set({ pinned: isPinned ? pinned.filter((id) => id !== lane) : [...pinned, lane] });
    this.say(`${printable(this.laneName(lane), 80)} ${isPinned ? 'unpinned' : 'pinned on top'}`);
  }

  toggleFolded(key: string): void {
    const { folded } = this.store.state;
    this.store.set({
      folded: folded.includes(key) ? folded.filter((other) => other !== key) : [...folded, key],
    });
  }

  toggleDeep(lane: number): void {
    const { deep } = this.store.state;
    this.store.set({
      deep: deep.includes(lane) ? deep.filter((id) => id !== lane) : [...deep, lane],
    });
  }

  // Unfolds the bands that hide the row, and scrolls there.
  private bringRowIntoView(lane: number, row: number): void {
    const there = this.run.lanes.find(({ id }) => id === lane);
    if (there === undefined) return;
    const hiding = [`p${there.process}`, deviceKey(this.run, there), String(lane)];
    const { folded } = this.store.state;
    if (folded.some((key) => hiding.includes(key)))
      this.store.set({ folded: folded.filter((key) => !hiding.includes(key)) });
    if (this.isHiddenByFilter(there)) this.setFilter('');
    if (this.panes().scrolled.bands.some((band) => isLineOf(band, there, this.run)))
      this.toggleFolded(idleKey(there.process));
    if (row >= kMostRows && this.bandOf(lane)?.hiddenRows) this.toggleDeep(lane);
    this.sought = { lane, row };
    this.scrollToSought();
  }

  private isHiddenByFilter(lane: Lane): boolean {
    const process = this.run.processes.find(({ id }) => id === lane.process);
    return process !== undefined && !matcher(this.store.state.filter, process)(lane);
  }

  // Shows only lanes with such a name.
  setFilter(filter: string): void {
    this.store.set({ filter, scroll: 0 });
    const lanes = this.panes().scrolled.bands.filter((band) => band.type === 'lane').length;
    this.say(filter === '' ? 'all lanes shown' : plural(lanes, 'lane') + ' shown');
  }

  private scrollToSought(): void {
    const { lane, row } = this.sought!;
    const band = this.bandOf(lane);
    if (band === null) return;
    const top = band.top + row * band.rowHeight;
    const scroll = this.store.state.scroll * this.sizes.row;
    const margin = this.sizes.row * 2;
    if (top - margin < scroll || top + margin > scroll + this.height)
      this.scrollWithin(top - this.height / 3);
  }

  private bandOf(lane: number): (Band & { type: 'lane' }) | null {
    for (const band of this.panes().scrolled.bands)
      if (band.type === 'lane' && band.lane.id === lane) return band;
    return null;
  }

  // Each pane calls this before it is drawn, to request the slices that it needs.
  wanted(pane: string, lanes: number[], scale: Scale): void {
    this.lanesOf.set(pane, lanes);
    const all = [...this.lanesOf.values()].flat();
    this.supply.want({ lanes: all, from: scale.from, to: scale.to, perPixel: 1 / scale.perNs });
  }

  laneName(id: number): string {
    const lane = this.run.lanes.find((lane) => lane.id === id);
    return lane === undefined ? '' : fullName(lane);
  }

  // --- findings

  chooseFinding(index: number): void {
    const finding = this.run.report.findings[index];
    if (finding === undefined) return;
    this.store.set({ finding: index, panel: 'finding' });
    const evidence = this.hull(index);
    if (evidence !== null)
      this.show(within(around(evidence.from, evidence.to - evidence.from), this.everything()));
    const [place] = placesOf(this.marks, index);
    if (place !== undefined) this.bringLaneIntoView(place);
    this.say(`${finding.severity}: ${prose(finding.title, 300)}`);
  }

  // Returns the marks of the findings that say that `device` idles or waits.
  gapsOf(device: string): PlacedMark[] {
    const { findings } = this.run.report;
    const devices = this.run.lanes.flatMap((lane) => lane.device ?? []);
    return this.marks.filter(({ finding }) => {
      const { kind, title } = findings[finding];
      return (
        kind.startsWith('device_') &&
        (title.includes(device) || !devices.some((other) => title.includes(other)))
      );
    });
  }

  // Goes to one place of a finding's evidence.
  goToPlace(mark: PlacedMark): void {
    this.showSpan({ from: mark.ts_ns, to: mark.end });
    this.bringLaneIntoView(mark);
  }

  private bringLaneIntoView(mark: PlacedMark): void {
    const lane = laneOf(this.run, mark);
    if (lane !== null) this.bringRowIntoView(lane, 0);
  }

  showSpan({ from, to }: Span): void {
    this.show(around(from, to - from, 0.5));
  }

  // --- events

  // Selects an event. `before` precedes the event's name in the message for screen readers.
  async choose(id: number, panel: Panel = 'event', before = ''): Promise<void> {
    const turn = ++this.turn;
    this.store.set({ event: id, panel });
    try {
      const detail = await this.source.event(id);
      if (turn !== this.turn) return;
      this.store.set({ detail, trouble: '' });
      const name = printable(detail.name, 200);
      const what = detail.merged ? `${mergedText(detail.merged)}, the longest: ${name}` : name;
      this.say(
        `${before}${what}, ${duration(detail.dur_ns)}, ${printable(this.laneName(detail.lane), 80)}`,
      );
    } catch (error) {
      if (turn !== this.turn) return;
      this.store.set({ event: null, detail: null });
      this.fail(error as Error);
    }
  }

  goTo(event: EventPlace, before = ''): void {
    this.bringIntoView(event.ts_ns, event.dur_ns ?? 0);
    this.bringRowIntoView(event.lane, event.row);
    void this.choose(event.id, 'event', before);
  }

  // Selects the slice before (-1) or after (1) the selected one in its row, among the slices that
  // have been loaded. If none is selected, selects one in view.
  chooseNeighbour(by: -1 | 1): void {
    const { detail } = this.store.state;
    if (detail === null) return this.chooseInView(by);
    const row = this.supply.parts.get(detail.lane)?.rows[detail.row];
    if (!row) return;
    const i = row.id.indexOf(detail.id) + by;
    if (i === by - 1 || i < 0 || i >= row.ts.length) return;
    this.goToSlice(detail.lane, detail.row, i);
  }

  // Selects the first slice in view (1), or the last one of its row (-1), on the topmost lane that
  // has one there.
  chooseInView(by: -1 | 1): void {
    const { from, to } = this.window;
    for (const { lane, row } of this.rowsInView()) {
      const slices = this.supply.parts.get(lane)!.rows[row];
      const first = firstVisible(slices, from);
      const last = upperBound(slices.ts, to) - 1;
      if (first <= last) return this.goToSlice(lane, row, by > 0 ? first : last);
    }
    this.say('No event is in view.');
  }

  // Selects the slice at the time of the selected one, on the nearest row above (-1) or below (1)
  // that has one near there.
  chooseBeside(by: -1 | 1): void {
    const { detail } = this.store.state;
    if (detail === null) return this.chooseInView(1);
    const rows = this.rowsInView(false);
    const at = rows.findIndex(({ lane, row }) => lane === detail.lane && row === detail.row);
    const { from, to } = this.window;
    for (let i = at + by; at >= 0 && i >= 0 && i < rows.length; i += by) {
      const { lane, row } = rows[i];
      const slices = this.supply.parts.get(lane)!.rows[row];
      const nearest = Math.min(firstVisible(slices, detail.ts_ns), slices.ts.length - 1);
      const isNear = nearest >= 0 && slices.ts[nearest] <= to && slices.ts[nearest] >= from;
      if (isNear || (nearest >= 0 && slices.ts[nearest] + slices.dur[nearest] >= detail.ts_ns))
        return this.goToSlice(lane, row, nearest);
    }
  }

  // Returns the rows of slices that are loaded, from top to bottom. With `isSeen`, without those
  // above the visible part.
  private rowsInView(isSeen = true): { lane: number; row: number }[] {
    const { pinned, scrolled } = this.panes();
    const top = isSeen ? this.store.state.scroll * this.sizes.row : 0;
    const below = scrolled.bands.filter((band) => band.top + band.height > top + 1);
    return [...pinned.bands, ...below].flatMap((band) => {
      if (band.type !== 'lane') return [];
      const rows = this.supply.parts.get(band.lane.id)?.rows ?? [];
      const shown = rows.slice(0, rows.length - band.hiddenRows);
      return shown.map((_, row) => ({ lane: band.lane.id, row }));
    });
  }

  private goToSlice(lane: number, row: number, i: number): void {
    const slices = this.supply.parts.get(lane)!.rows[row];
    const { [i]: dur } = slices.dur;
    const dur_ns = dur === kNeverEnded ? null : dur;
    this.goTo({ id: slices.id[i], lane, row, ts_ns: slices.ts[i], dur_ns, name: '' });
  }

  // --- ranges and flags

  // Measures the selected event, or else the window. With `isExtended`, stretches the measured range
  // to the selected event.
  measureChosen(isExtended: boolean): void {
    const { detail, range } = this.store.state;
    const end = this.run.span.end_ns;
    const window = {
      from: Math.round(Math.max(0, this.window.from)),
      to: Math.round(Math.min(end, this.window.to)),
      lanes: null,
    };
    if (detail === null) return this.measure(window);
    const event = {
      from: detail.ts_ns,
      to: detail.ts_ns + (detail.dur_ns ?? Math.max(0, end - detail.ts_ns)),
      lanes: [detail.lane],
    };
    if (!isExtended || range === null) return this.measure(event);
    this.measure({
      from: Math.min(range.from, event.from),
      to: Math.max(range.to, event.to),
      lanes: range.lanes && [...new Set([...range.lanes, detail.lane])],
    });
  }

  // Shows the range while the user still drags it, without requesting its totals.
  stretch(range: Range): void {
    this.store.set({ range, totals: null, panel: 'range' });
  }

  measure(range: Range, panel: Panel = 'range'): void {
    this.store.set({ range, totals: null, panel });
    const lanes =
      range.lanes ??
      this.run.lanes.filter((lane) => lane.kind !== 'counter').map((lane) => lane.id);
    this.source.range(lanes, Math.floor(range.from), Math.ceil(range.to)).then(
      (totals) => {
        if (this.store.state.range !== range) return;
        this.store.set({ totals, trouble: '' });
        this.say(
          `${duration(range.to - range.from)} selected, ${plural(totals.rows.length, 'name')}`,
        );
      },
      (error) => this.fail(error),
    );
  }

  // Marks the selected event or range, or else the time under the pointer. Removes the mark if it
  // exists already.
  toggleFlag(): void {
    const { flags, panel, detail, range } = this.store.state;
    const at = this.hover.state.time ?? (this.window.from + this.window.to) / 2;
    const event = detail && { from: detail.ts_ns, to: detail.ts_ns + (detail.dur_ns ?? 0) };
    const chosen = (panel === 'range'
      ? (range ?? event)
      : panel === 'event'
        ? (event ?? range)
        : null) ?? { from: at, to: at };
    const flag = { from: Math.round(chosen.from), to: Math.round(chosen.to) };
    const near = (this.window.to - this.window.from) / 300;
    const same = flags.find(
      (f) => Math.abs(f.from - flag.from) < near && Math.abs(f.to - flag.to) < near,
    );
    this.store.set({
      flags: same
        ? flags.filter((f) => f !== same)
        : [...flags, flag].sort((a, b) => a.from - b.from),
    });
    this.say(same ? 'mark removed' : `marked at ${duration(flag.from)}`);
  }

  // --- search

  // Searches for events by name. `linked` means that a link contains the search and the event
  // found. The window then stays where it is.
  async search(
    text: string,
    direction: 'next' | 'previous',
    linked?: { found?: Place },
  ): Promise<void> {
    const turn = ++this.searchTurn;
    const isNew = text !== this.store.state.query || this.store.state.found === null;
    this.store.set({ query: text });
    if (text === '') return this.store.set({ found: null, matches: null });
    const last = isNew ? null : (this.store.state.found?.event ?? null);
    // The place from which to search. To find the linked event again, it is just before that event.
    const behind = linked?.found
      ? { ts_ns: linked.found.ts_ns, id: linked.found.id - 1 }
      : (last ?? { ts_ns: Math.max(-1, Math.floor(this.window.from)), id: 0 });
    try {
      const { ts_ns: ts, id } = behind;
      const found = await this.source.search({ text, direction, ts, id });
      if (turn !== this.searchTurn) return;
      const matches = new Uint8Array(this.source.names.count);
      for (const name of found.names) matches[name] = 1;
      this.store.set({ found, matches, trouble: '' });
      if (found.event === null) return this.say('No event found.');
      if (!linked) this.goTo(found.event, `${count(found.index! + 1)} of ${count(found.count)}: `);
    } catch (error) {
      if (turn === this.searchTurn) this.fail(error as Error);
    }
  }

  // --- the rest

  setTheme(theme: Theme): void {
    rememberTheme(theme);
    this.store.set({ theme });
  }

  // Closes the help or the open panel, or clears the search.
  escape(): void {
    const { help, panel, query, finding, event, range } = this.store.state;
    if (help) return this.store.set({ help: false });
    if (panel === 'range')
      return this.store.set({
        range: null,
        totals: null,
        panel: event !== null ? 'event' : finding !== null ? 'finding' : null,
      });
    if (panel === 'event')
      return this.store.set({
        event: null,
        detail: null,
        panel: finding !== null ? 'finding' : range ? 'range' : null,
      });
    if (panel === 'finding')
      return this.store.set({ finding: null, panel: range ? 'range' : null });
    if (query !== '') void this.search('', 'next');
  }

  say(said: string): void {
    this.store.set({ said });
  }

  private fail(error: Error): void {
    this.store.set({ trouble: error.message });
  }
}

// Returns whether a band is the folded line that hides an idle thread.
function isLineOf(band: Band, lane: Lane, run: Run): boolean {
  return (
    band.type === 'idle' &&
    band.folded &&
    band.key === idleKey(lane.process) &&
    idleThreads(run, lane.process).includes(lane)
  );
}
