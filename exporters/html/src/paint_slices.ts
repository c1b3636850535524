// Draws one row of slices, without drawing a pixel twice.
import type { Scale } from './axis.ts';
import { firstVisible } from './decode.ts';
import { kNeverEnded, type SliceRow } from './source.ts';
import type { Surface } from './surface.ts';

// The look of the slices in a row.
export interface SliceLook {
  fill(row: SliceRow, i: number): string;
  label(row: SliceRow, i: number): string;
  labelFill(row: SliceRow, i: number): string;
  end: number; // ns; the end to use for slices that never ended
}

export function paintRow(
  surface: Surface,
  scale: Scale,
  row: SliceRow,
  top: number,
  height: number,
  look: SliceLook,
): void {
  const { ctx, words, unit } = surface;
  const withText = height >= 11 * unit;
  const middle = top + height / 2;
  const n = row.ts.length;
  let drawn = -9; // pixels before this one are drawn
  let i = firstVisible(row, scale.from);
  while (i < n && row.ts[i] <= scale.to) {
    const end = row.dur[i] === kNeverEnded ? look.end : row.ts[i] + row.dur[i];
    const left = Math.max(scale.pixel(row.ts[i]), drawn);
    const right = Math.max(scale.pixel(end), scale.pixel(row.ts[i]) + 1);
    if (right <= drawn) {
      // Slices up to the next free pixel are invisible.
      i = Math.max(i + 1, firstVisible(row, scale.time(drawn - 0.5)));
      continue;
    }
    const width = right - left;
    // If there is room, a free pixel separates neighbours.
    ctx.fillStyle = look.fill(row, i);
    ctx.fillRect(left, top, width > 4 ? width - 1 : width, height);
    drawn = right;
    if (withText && width > 22 * unit) {
      const x = Math.max(left, 0) + 4 * unit;
      ctx.fillStyle = look.labelFill(row, i);
      words.draw(look.label(row, i), x, middle, Math.min(right, surface.width) - x - 4 * unit);
    }
    ++i;
  }
}

// Returns the slice of `row` at a pixel, or the nearest one at most `reach` pixels away; null if
// there is none.
export function sliceAt(
  scale: Scale,
  row: SliceRow,
  x: number,
  reach: number,
  end: number,
): number | null {
  let best: number | null = null;
  let nearest = reach;
  for (let i = firstVisible(row, scale.time(x - reach)); i < row.ts.length; ++i) {
    const left = scale.x(row.ts[i]);
    if (left > x + reach) break;
    const right = scale.x(row.dur[i] === kNeverEnded ? end : row.ts[i] + row.dur[i]);
    const away = Math.max(left - x, x - right, 0);
    if (best !== null && away >= nearest) continue;
    best = i;
    nearest = away;
    if (away === 0) break;
  }
  return best;
}
