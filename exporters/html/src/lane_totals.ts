// The exact totals by name of lanes whose slices a page holds merged (docs/formats/view.md, "In a
// file").
import { Bytes } from './bytes.ts';
import type { Names } from './names.ts';

// The totals of one name on one lane, over the whole run. Times are in ns.
export interface LaneTotals {
  name: number; // index into Names
  category: number; // index into run.categories
  count: number;
  total: number;
  p99: number;
  max: number;
  self: number;
}

export class TotalsOfLanes {
  private readonly byLane = new Map<number, Map<number, LaneTotals>>();
  private leftOut = 0; // names that the page does not hold

  constructor(data: Uint8Array, names: Names) {
    if (data.length === 0) return;
    const bytes = new Bytes(data);
    for (let lane = bytes.varint(); lane !== 0; lane = bytes.varint()) {
      this.leftOut += bytes.varint();
      const byName = new Map<number, LaneTotals>();
      for (let n = bytes.count(); n > 0; --n) {
        const totals = decodeTotals(bytes, names);
        byName.set(totals.name, totals);
      }
      this.byLane.set(lane, byName);
    }
    for (let n = bytes.count(); n > 0; --n) names.set(bytes.varint(), bytes.text());
  }

  // Returns the totals of all names on a lane.
  of(lane: number): LaneTotals[] {
    return [...(this.byLane.get(lane)?.values() ?? [])];
  }

  // Returns the totals of one name on a lane, or null if the page does not hold them.
  ofName(lane: number, name: number): LaneTotals | null {
    return this.byLane.get(lane)?.get(name) ?? null;
  }

  // Returns how many events have one of these names, or null if names are missing.
  countOf(names: number[]): number | null {
    if (this.leftOut > 0) return null;
    let count = 0;
    for (const byName of this.byLane.values())
      for (const name of names) count += byName.get(name)?.count ?? 0;
    return count;
  }
}

function decodeTotals(bytes: Bytes, names: Names): LaneTotals {
  const name = names.index(bytes.varint());
  const category = bytes.varint();
  const [count, total, p99, max] = [bytes.varint(), bytes.varint(), bytes.varint(), bytes.varint()];
  return { name, category, count, total, p99, max, self: bytes.zigzag() };
}
