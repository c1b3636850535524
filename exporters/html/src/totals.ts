// Sums slices by name, by the rules of docs/formats/view.md, section range.
import { firstVisible } from './decode.ts';
import type { Names } from './names.ts';
import { kNeverEnded, type RangeTotals, type SliceRow, type Totals } from './source.ts';

const kMostRows = 1000;

interface Sum {
  name: number;
  category: number; // category of the first slice
  count: number;
  total: number;
  nested: number; // the part of `total` inside slices of the row below
  durations: number[];
}

export class TotalsByName {
  private readonly sums: Sum[] = []; // by index of a name, with gaps

  // Sums the parts of slices in [from, to). Slices that never ended end at `end`. If `only` is set,
  // only the name with this index is summed.
  constructor(
    private readonly from: number,
    private readonly to: number,
    private readonly end: number,
    private readonly only: number | null = null,
  ) {}

  // Adds a lane's rows, outermost first.
  add(rows: SliceRow[]): void {
    rows.forEach((row, depth) => this.addRow(row, rows[depth + 1] ?? null));
  }

  private addRow(row: SliceRow, below: SliceRow | null): void {
    const { from, to } = this;
    let child = below === null ? 0 : firstVisible(below, from);
    for (let i = firstVisible(row, from); i < row.ts.length; ++i) {
      const ts = row.ts[i];
      if (ts >= to) break;
      if (this.only !== null && row.name[i] !== this.only) continue;
      const end = this.endOf(row, i);
      if (end <= from && !(end === ts && ts === from)) continue;
      const inside = Math.min(end, to) - Math.max(ts, from);
      let nested = 0;
      if (below !== null) {
        while (child < below.ts.length && below.ts[child] < ts) ++child;
        for (; child < below.ts.length && below.ts[child] <= end; ++child) {
          const childEnd = this.endOf(below, child);
          if (childEnd > end) break;
          nested += Math.max(0, Math.min(childEnd, to) - Math.max(below.ts[child], from));
        }
      }
      this.count(row, i, inside, nested);
    }
  }

  private endOf(row: SliceRow, i: number): number {
    return row.dur[i] === kNeverEnded ? Math.max(this.end, row.ts[i]) : row.ts[i] + row.dur[i];
  }

  private count(row: SliceRow, i: number, inside: number, nested: number): void {
    const name = row.name[i];
    let sum = this.sums[name];
    if (sum === undefined) {
      sum = {
        name,
        category: row.category[i],
        count: 0,
        total: 0,
        nested: 0,
        durations: [],
      };
      this.sums[name] = sum;
    }
    sum.count += row.count[i];
    sum.total += inside;
    sum.nested += nested;
    sum.durations.push(inside);
  }

  // Returns the totals, the longest first.
  totals(names: Names, categories: string[]): RangeTotals {
    const rows = Object.values(this.sums)
      .map((sum) => totalsOf(sum, names, categories))
      .sort((a, b) => b.total_ns - a.total_ns || b.count - a.count);
    return { rows: rows.slice(0, kMostRows), left_out: Math.max(0, rows.length - kMostRows) };
  }
}

function totalsOf(sum: Sum, names: Names, categories: string[]): Totals {
  const sorted = Float64Array.from(sum.durations).sort();
  return {
    name: names.text(sum.name),
    category: categories[sum.category] ?? '',
    count: sum.count,
    total_ns: sum.total,
    self_ns: sum.total - sum.nested,
    mean_ns: sum.total / sum.count,
    p99_ns: sorted[Math.ceil(sorted.length * 0.99) - 1], // nearest rank
    max_ns: sorted[sorted.length - 1],
  };
}
