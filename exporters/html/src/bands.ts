// Arranges lanes from top to bottom, as bands of pixels.
import type { Lane, Process, Run } from './run.ts';

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
  folded: string[];
  deep: number[]; // lanes that show all their rows
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

// Returns the bands of the other lanes, by process.
export function scrolledBands(
  run: Run,
  { pinned, folded, deep }: Arrangement,
  sizes: Sizes,
): Bands {
  const pile = new Pile(sizes, folded, deep);
  const known = new Set(run.processes.map((process) => process.id));
  const strays = [...run.lanes, ...run.steps]
    .map((of) => of.process)
    .filter((id) => !known.has(id) && known.add(id))
    .map((id) => ({ id, name: 'of no process', detail: '' }));
  for (const process of [...run.processes, ...strays]) {
    const groups = byDevice(run.lanes.filter((lane) => lane.process === process.id))
      .map((group) => group.filter((lane) => !pinned.includes(lane.id)))
      .filter((group) => group.length > 0);
    const hasSteps = run.steps.some((step) => step.process === process.id && step.ts_ns !== null);
    if (groups.length === 0 && !hasSteps) continue;
    if (!pile.process(process)) continue;
    if (hasSteps) pile.steps(process.id);
    for (const group of groups) {
      const { device } = group[0];
      const isNamed = device === null || group.every(({ name }) => name.includes(device));
      if (isNamed || pile.device(deviceKey(run, group[0]), device))
        for (const lane of group) pile.lane(lane);
    }
  }
  return pile.done();
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
export function fullName({ name, device }: Lane): string {
  return device === null || name.includes(device) ? name : `${device} · ${name}`;
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
