// Arranges lanes from top to bottom, as bands of pixels.
import type { Lane, LaneKind, Process, Run } from './run.ts';

interface At {
  key: string; // a stable name, which links use
  top: number; // CSS pixels
  height: number;
  folded: boolean;
}

export type Band = At &
  (
    | { type: 'process'; process: Process }
    | { type: 'device'; device: string }
    | { type: 'steps'; process: number }
    | { type: 'marks' }
    | { type: 'idle'; threads: number } // the line of a process's idle threads
    | { type: 'lane'; lane: Lane; rowHeight: number; hiddenRows: number }
  );

// A deeper lane shows only this many rows until the user asks for all, so that other lanes stay
// visible.
export const kMostRows = 16;

export interface Bands {
  bands: Band[];
  height: number;
}

// Heights in CSS pixels, derived from the height of a row with text.
export interface Sizes {
  row: number;
  counter: number;
  process: number;
  gap: number; // below a lane
}

export function sizesFor(rem: number): Sizes {
  const row = Math.round(rem * 1.4);
  return { row, counter: row * 2, process: Math.round(rem * 1.9), gap: Math.round(rem * 0.4) };
}

export interface Arrangement {
  pinned: number[];
  folded: string[]; // bands that are folded; the line of idle threads is folded unless it is here
  deep: number[]; // lanes that show all their rows
  filter: string; // only lanes with such a name are shown; "" shows all
  markRows: number;
}

// Returns the bands that stay on top: findings' marks, then pinned lanes in the order of pinning.
export function pinnedBands(
  run: Run,
  { pinned, folded, deep, markRows }: Arrangement,
  sizes: Sizes,
): Bands {
  const pile = new Pile(sizes, folded, deep);
  if (markRows > 0) pile.marks(markRows);
  for (const id of pinned) {
    const lane = run.lanes.find((lane) => lane.id === id);
    if (lane !== undefined) pile.lane(lane);
  }
  return pile.done();
}

// Returns the bands of the other lanes, by process. Processes with devices come first, and in each
// process its devices, because a finding is most often about them.
export function scrolledBands(run: Run, arrangement: Arrangement, sizes: Sizes): Bands {
  const { pinned, folded, deep, filter } = arrangement;
  const pile = new Pile(sizes, folded, deep);
  for (const process of inOrder(run)) {
    const matches = matcher(filter, process);
    const lanes = run.lanes.filter((lane) => lane.process === process.id && matches(lane));
    const idle = filter === '' ? idleThreads(run, process.id) : [];
    const shown = (of: Lane[]) => of.filter((lane) => !pinned.includes(lane.id));
    const groups = byDevice(devicesFirst(lanes))
      .map((group) => shown(group.filter((lane) => !idle.includes(lane))))
      .filter((group) => group.length > 0);
    const hasSteps = run.steps.some((step) => step.process === process.id && step.ts_ns !== null);
    if (groups.length === 0 && (!hasSteps || filter !== '')) continue;
    if (!pile.process(process)) continue;
    if (hasSteps) pile.steps(process.id);
    for (const group of groups) {
      const { device } = group[0];
      const isNamed = device === null || group.every(({ name }) => name.includes(device));
      if (isNamed || pile.device(deviceKey(run, group[0]), device))
        for (const lane of group) pile.lane(lane);
    }
    if (idle.length > 0 && !pile.idle(process.id, shown(idle).length))
      for (const lane of shown(idle)) pile.lane(lane);
  }
  return pile.done();
}

// Returns the processes in the order of display.
function inOrder(run: Run): Process[] {
  const known = new Set(run.processes.map((process) => process.id));
  const strays = [...run.lanes, ...run.steps]
    .map((of) => of.process)
    .filter((id) => !known.has(id) && known.add(id))
    .map((id) => ({ id, name: 'of no process', detail: '' }));
  const withDevices = new Set(run.lanes.filter(isOfDevice).map((lane) => lane.process));
  const rank = ({ id }: Process) => (withDevices.has(id) ? 0 : 1);
  return [...run.processes, ...strays].sort((a, b) => rank(a) - rank(b));
}

function isOfDevice({ device, kind }: Lane): boolean {
  return device !== null || kind === 'device' || kind === 'device_stream';
}

// Puts devices before threads, and counters last.
function devicesFirst(lanes: Lane[]): Lane[] {
  const rank = (lane: Lane) => (isOfDevice(lane) ? 0 : lane.kind === 'counter' ? 2 : 1);
  return [...lanes].sort((a, b) => rank(a) - rank(b));
}

const kFewEvents = 20;
const kFarFewer = 20; // factor
const kFewThreads = 5; // fewer idle threads than this stay as they are

// Returns the idle threads of a process: those with few events, far fewer than its busiest thread
// has. Returns none if there are not enough of them to hide other lanes.
export function idleThreads(run: Run, process: number): Lane[] {
  const threads = run.lanes.filter(
    (lane) => lane.process === process && lane.kind === 'host_thread' && !isOfDevice(lane),
  );
  const most = threads.reduce((most, { events }) => Math.max(most, events), 0);
  const idle = threads.filter(({ events }) => events < kFewEvents && events * kFarFewer <= most);
  return idle.length < kFewThreads ? [] : idle;
}

// Returns the key of the line of a process's idle threads.
export function idleKey(process: number): string {
  return `i${process}`;
}

// Returns a function that tells whether a lane, or the process that it belongs to, has a name that
// the filter asks for: a part of the name, or a regular expression between slashes. An expression
// that is not complete yet is a part of the name. Case is ignored.
export function matcher(filter: string, process: Process): (lane: Lane) => boolean {
  const pattern = patternOf(filter);
  const wanted = filter.toLowerCase();
  const matches = (name: string) =>
    pattern === null ? name.toLowerCase().includes(wanted) : pattern.test(name);
  const isWhole = filter === '' || matches(`${process.name} ${process.detail}`);
  return (lane) => isWhole || matches(fullName(lane));
}

function patternOf(filter: string): RegExp | null {
  const [, source] = filter.match(/^\/(.+)\/$/) ?? [];
  if (source === undefined) return null;
  try {
    return new RegExp(source, 'i');
  } catch {
    return null;
  }
}

// Groups lanes, in their order: the lanes of one device are one group, and every other lane is its
// own.
function byDevice(lanes: Lane[]): Lane[][] {
  const groups = new Map<Lane | string, Lane[]>();
  for (const lane of lanes) {
    const key = lane.device ?? lane;
    groups.set(key, [...(groups.get(key) ?? []), lane]);
  }
  return [...groups.values()];
}

// Returns the key of the band of the lane's device: d and the id of the device's first lane, even
// if that lane is pinned.
export function deviceKey(run: Run, { device, process }: Lane): string {
  return `d${run.lanes.find((lane) => lane.device === device && lane.process === process)!.id}`;
}

// Returns the lane's name with its device, for places where nothing else shows the device.
export function fullName(lane: Lane): string {
  const { device } = lane;
  const name = nameOf(lane);
  return device === null || name.includes(device) ? name : `${device} · ${name}`;
}

const kKinds: Record<LaneKind, string> = {
  host_thread: 'thread',
  device: 'device',
  device_stream: 'stream',
  async: 'requests',
  counter: 'counter',
};

// Returns the lane's name. A capture may leave it empty.
export function nameOf({ id, kind, name }: Lane): string {
  return name.trim() === '' ? `unnamed ${kKinds[kind] ?? 'lane'} ${id}` : name;
}

class Pile {
  private readonly bands: Band[] = [];
  private height = 0;

  constructor(
    private readonly sizes: Sizes,
    private readonly foldedKeys: string[],
    private readonly deep: number[],
  ) {}

  // Adds the band of a process. Returns false if it is folded, so that its lanes are not shown.
  process(process: Process): boolean {
    const at = this.add(`p${process.id}`, this.sizes.process);
    this.bands.push({ ...at, type: 'process', process });
    return !at.folded;
  }

  // Adds the band of a device. Returns false if it is folded.
  device(key: string, device: string): boolean {
    const at = this.add(key, this.sizes.row + this.sizes.gap);
    this.bands.push({ ...at, type: 'device', device });
    return !at.folded;
  }

  // Adds the line of the idle threads of a process. Returns whether it hides them.
  idle(process: number, threads: number): boolean {
    const at = this.add(idleKey(process), this.sizes.row + this.sizes.gap);
    const folded = !at.folded;
    this.bands.push({ ...at, folded, type: 'idle', threads });
    return folded;
  }

  steps(process: number): void {
    const at = this.add(`s${process}`, this.sizes.row + this.sizes.gap);
    this.bands.push({ ...at, type: 'steps', process });
  }

  marks(rows: number): void {
    const at = this.add('m', this.sizes.row * rows + this.sizes.gap);
    this.bands.push({ ...at, type: 'marks' });
  }

  // Adds a lane. A folded lane shows its rows without text, in the height of one row.
  lane(lane: Lane): void {
    const { row, counter, gap } = this.sizes;
    const key = String(lane.id);
    const folded = this.foldedKeys.includes(key);
    const all = Math.max(1, lane.rows);
    const rows = this.deep.includes(lane.id) ? all : Math.min(all, kMostRows);
    const rowHeight =
      lane.kind === 'counter'
        ? folded
          ? row
          : counter
        : folded
          ? Math.max(2, Math.floor(row / all))
          : row;
    const height = lane.kind === 'counter' ? rowHeight : folded ? row : rowHeight * rows;
    const hiddenRows = folded ? 0 : all - rows;
    this.bands.push({ ...this.add(key, height + gap), type: 'lane', lane, rowHeight, hiddenRows });
  }

  private add(key: string, height: number): At {
    const top = this.height;
    this.height += height;
    return { key, top, height, folded: this.foldedKeys.includes(key) };
  }

  done(): Bands {
    return { bands: this.bands, height: this.height };
  }
}

// Returns the bands that are visible between `top` and `bottom`.
export function between(bands: Band[], top: number, bottom: number): Band[] {
  return bands.filter((band) => band.top + band.height > top && band.top < bottom);
}
