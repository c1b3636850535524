// The arrows of a file (docs/formats/view.md, section In a file).
import { Bytes } from './bytes.ts';

export interface Arrow {
  direction: 'in' | 'out';
  other: number; // id of the event at the other end
}

export class Flows {
  private readonly from: Float64Array;
  private readonly to: Float64Array;

  constructor(data: Uint8Array) {
    const bytes = new Bytes(data);
    const n = data.length === 0 ? 0 : bytes.count();
    this.from = new Float64Array(n);
    this.to = new Float64Array(n);
    let from = 0;
    for (let i = 0; i < n; ++i) {
      from += bytes.zigzag();
      this.from[i] = from;
      this.to[i] = from + bytes.zigzag();
    }
  }

  // Returns the arrows that enter the event with this id, then those that leave it.
  of(id: number): Arrow[] {
    const arrows: Arrow[] = [];
    this.to.forEach((to, i) => to === id && arrows.push({ direction: 'in', other: this.from[i] }));
    this.from.forEach(
      (from, i) => from === id && arrows.push({ direction: 'out', other: this.to[i] }),
    );
    return arrows;
  }
}
