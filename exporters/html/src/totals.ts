// Sums slices by name, by the rules of docs/formats/view.md, section range.
import { firstVisible } from './decode.ts';
import type { LaneTotals } from './lane_totals.ts';
import type { Names } from './names.ts';
import { kNeverEnded, type RangeTotals, type SliceRow, type Totals } from './source.ts';

const kMostRows = 1000;

interface Sum {
  name: number;
  category: number; // category of the first slice
  count: number;
  total: number;
  nested: number; // the part of `total` inside slices of the row below
  knowsNested: boolean; // no slice of the row below is merged
  durations: number[];
  whole: LaneTotals[]; // of lanes that are summed as a whole
}

export class TotalsByName {
  private readonly sums: Sum[] = []; // by index of a name, with gaps
  private merged = 0; // events in merged slices
  private mergedBelow = 0; // ns

  // Sums the parts of slices in [from, to). Slices that never ended end at `end`. If `only` is set,
  // only the name with this index is summed.
  constructor(
    private readonly from: number,
    private readonly to: number,
    private readonly end: number,
    private readonly only: number | null = null,
  ) {}

  // Adds a lane's rows, outermost first. If the lane has slices that stand for several events
  // shorter than `mergedBelow`, no event that short is summed: only some of them have a slice each.
  add(rows: SliceRow[], mergedBelow = 0): void {
    rows.forEach((row, depth) => this.addRow(row, rows[depth + 1] ?? null, mergedBelow));
  }

  // Adds the totals of a lane over the whole run.
  addWhole(lane: LaneTotals[]): void {
    for (const totals of lane) {
      const sum = this.sumOf(totals.name, totals.category);
      sum.count += totals.count;
      sum.total += totals.total;
      sum.nested += totals.total - totals.self;
      sum.whole.push(totals);
    }
  }

  private addRow(row: SliceRow, below: SliceRow | null, mergedBelow: number): void {
    const { from, to } = this;
    let child = below === null ? 0 : firstVisible(below, from);
    for (let i = firstVisible(row, from); i < row.ts.length; ++i) {
      const ts = row.ts[i];
      if (ts >= to) break;
      if (this.only !== null && row.name[i] !== this.only) continue;
      const end = this.endOf(row, i);
      if (end <= from && !(end === ts && ts === from)) continue;
      if (isMerged(row, i, mergedBelow)) {
        this.merged += row.count[i];
        this.mergedBelow = Math.max(this.mergedBelow, mergedBelow);
        continue;
      }
      const sum = this.sumOf(row.name[i], row.category[i]);
      const inside = Math.min(end, to) - Math.max(ts, from);
      sum.count += row.count[i];
      sum.total += inside;
      sum.durations.push(inside);
      if (below === null) continue;
      while (child < below.ts.length && below.ts[child] < ts) ++child;
      for (; child < below.ts.length && below.ts[child] <= end; ++child) {
        if (isMerged(below, child, mergedBelow)) sum.knowsNested = false;
        const childEnd = this.endOf(below, child);
        if (childEnd > end) break;
        sum.nested += Math.max(0, Math.min(childEnd, to) - Math.max(below.ts[child], from));
      }
    }
  }

  private endOf(row: SliceRow, i: number): number {
    return row.dur[i] === kNeverEnded ? Math.max(this.end, row.ts[i]) : row.ts[i] + row.dur[i];
  }

  private sumOf(name: number, category: number): Sum {
    return (this.sums[name] ??= {
      name,
      category,
      count: 0,
      total: 0,
      nested: 0,
      knowsNested: true,
      durations: [],
      whole: [],
    });
  }

  // Returns the totals, the longest first.
  totals(names: Names, categories: string[]): RangeTotals {
    const rows = Object.values(this.sums)
      .map((sum) => totalsOf(sum, names, categories))
      .sort((a, b) => b.total_ns - a.total_ns || b.count - a.count);
    const left_out = Math.max(0, rows.length - kMostRows);
    const totals = { rows: rows.slice(0, kMostRows), left_out };
    const merged = { events: this.merged, below: this.mergedBelow };
    return this.merged === 0 ? totals : { ...totals, merged };
  }
}

// Returns whether a slice stands for events that are too short to have a slice each.
function isMerged(row: SliceRow, i: number, below: number): boolean {
  if (below === 0) return false;
  return row.count[i] > 1 || (row.dur[i] !== kNeverEnded && row.dur[i] < below);
}

function totalsOf(sum: Sum, names: Names, categories: string[]): Totals {
  const sorted = Float64Array.from(sum.durations).sort();
  return {
    name: names.text(sum.name),
    category: categories[sum.category] ?? '',
    count: sum.count,
    total_ns: sum.total,
    self_ns: sum.knowsNested ? sum.total - sum.nested : null,
    mean_ns: sum.total / sum.count,
    p99_ns: percentile99(sorted, sum.whole),
    max_ns: Math.max(sorted.at(-1) ?? 0, ...sum.whole.map(({ max }) => max)),
  };
}

// Returns the 99th percentile by nearest rank. Percentiles of lanes do not add up to one of all.
function percentile99(sorted: Float64Array, whole: LaneTotals[]): number | null {
  if (whole.length === 0) return sorted[Math.ceil(sorted.length * 0.99) - 1];
  return whole.length === 1 && sorted.length === 0 ? whole[0].p99 : null;
}
