// Computes a lane at coarser resolutions, by the rule of docs/formats/view.md: slices shorter than
// R that lie in one cell of R ns become one slice, with the name of the longest.
import { emptyRow, emptySamples } from './decode.ts';
import { type CounterRow, kNeverEnded, type LanePart, type SliceRow } from './source.ts';

const kSmall = 4096; // slices or samples: a lane with fewer is never merged
const kFinest = 1024; // ns

export class LaneLevels {
  private readonly coarser = new Map<number, LanePart>();

  constructor(readonly whole: LanePart) {}

  // Returns the whole lane at `resolution` or finer. It is computed when it is first requested.
  at(resolution: number): LanePart {
    const { whole } = this;
    if (resolution < kFinest || sizeOf(whole) <= kSmall) return whole;
    const cell = 4 ** Math.floor(Math.log2(resolution) / 2);
    let part = this.coarser.get(cell);
    if (part === undefined) {
      part = {
        ...whole,
        resolution: cell,
        rows: whole.rows.map((row) => mergedRow(row, cell)),
        samples: whole.samples && mergedSamples(whole.samples, cell),
      };
      this.coarser.set(cell, part);
    }
    return part;
  }
}

export function sizeOf(part: LanePart): number {
  return part.rows.reduce((sum, row) => sum + row.ts.length, part.samples?.ts.length ?? 0);
}

function mergedRow(row: SliceRow, cell: number): SliceRow {
  const n = row.ts.length;
  const cellOf = (i: number) =>
    row.dur[i] !== kNeverEnded && row.dur[i] < cell ? Math.floor(row.ts[i] / cell) : null;
  const starts = startsOfGroups(n, cellOf);
  const out = emptyRow(starts.length);
  starts.forEach((start, group) => {
    const stop = starts[group + 1] ?? n;
    let longest = start;
    let count = 0;
    for (let i = start; i < stop; ++i) {
      count += row.count[i];
      if (row.dur[i] > row.dur[longest]) longest = i;
    }
    const last = stop - 1;
    out.ts[group] = row.ts[start];
    out.dur[group] =
      stop - start === 1 ? row.dur[start] : row.ts[last] + row.dur[last] - row.ts[start];
    out.name[group] = row.name[longest];
    out.category[group] = row.category[longest];
    out.count[group] = count;
    out.id[group] = row.id[longest];
  });
  return out;
}

function mergedSamples(samples: CounterRow, cell: number): CounterRow {
  const n = samples.ts.length;
  const starts = startsOfGroups(n, (i) => Math.floor(samples.ts[i] / cell));
  const out = emptySamples(starts.length);
  starts.forEach((start, group) => {
    const stop = starts[group + 1] ?? n;
    let least = Infinity;
    let greatest = -Infinity;
    for (let i = start; i < stop; ++i) {
      least = Math.min(least, samples.least[i]);
      greatest = Math.max(greatest, samples.greatest[i]);
    }
    out.ts[group] = samples.ts[start];
    out.least[group] = least;
    out.greatest[group] = greatest;
    out.last[group] = samples.last[stop - 1];
  });
  return out;
}

// Returns the index at which each group begins. Neighbours in the same cell form a group; an
// element without a cell is a group by itself.
function startsOfGroups(n: number, cellOf: (i: number) => number | null): number[] {
  const starts: number[] = [];
  let before: number | null = null;
  for (let i = 0; i < n; ++i) {
    const cell = cellOf(i);
    if (cell === null || cell !== before) starts.push(i);
    before = cell;
  }
  return starts;
}
