// Draws findings' marks on their lane.
import type { Scale } from './axis.ts';
import type { DensePart, PlacedDensity, PlacedMark } from './marks.ts';
import type { Surface } from './surface.ts';
import { prose } from './text.ts';
import type { Viewer } from './viewer.ts';

export function paintMarks(
  { ctx, words, colours, unit, width }: Surface,
  scale: Scale,
  viewer: Viewer,
  top: number,
): void {
  const rowHeight = Math.round(viewer.sizes.row * unit);
  const height = rowHeight - Math.round(unit);
  const { finding: selected } = viewer.store.state;
  const line = Math.max(1, Math.round(unit));
  for (const density of viewer.densities) {
    ctx.globalAlpha = density.finding === selected ? 0.5 : 0.3;
    ctx.fillStyle = colours.severity[viewer.run.report.findings[density.finding].severity];
    paintDensity(ctx, scale, density, top + density.row * rowHeight, height);
    ctx.globalAlpha = 1;
  }
  for (const mark of viewer.marks) {
    if (mark.end < scale.from || mark.ts_ns > scale.to) continue;
    const { severity } = viewer.run.report.findings[mark.finding];
    const left = scale.pixel(mark.ts_ns);
    const right = Math.max(scale.pixel(mark.end), left + 3 * line);
    const y = top + mark.row * rowHeight;
    ctx.globalAlpha = mark.finding === selected ? 0.5 : 0.2;
    ctx.fillStyle = colours.severity[severity];
    ctx.fillRect(left, y, right - left, height);
    ctx.globalAlpha = 1;
    ctx.fillRect(left, y, Math.min(3 * line, right - left), height);
    if (right - left < 24 * unit) continue;
    const x = Math.max(left, 0) + 7 * unit;
    ctx.fillStyle = colours.text;
    words.draw(prose(mark.text, 256), x, y + height / 2, Math.min(right, width) - x - 4 * unit);
  }
}

// Draws how much of the run a finding takes, as one bar per part of the run.
function paintDensity(
  ctx: CanvasRenderingContext2D,
  scale: Scale,
  { parts, most }: PlacedDensity,
  top: number,
  height: number,
): void {
  for (const { from, to, share } of parts) {
    if (share === 0 || to < scale.from || from > scale.to) continue;
    const left = scale.pixel(from);
    const bar = Math.max(1, Math.round((height * share) / most));
    ctx.fillRect(left, top + height - bar, Math.max(1, scale.pixel(to) - left), bar);
  }
}

// Returns the part of a density at a time; null if there is none, or nothing is in it.
export function densityAt(
  densities: PlacedDensity[],
  row: number,
  time: number,
): (DensePart & { finding: number }) | null {
  for (const { finding, parts } of densities.filter((density) => density.row === row)) {
    const part = parts.find(({ from, to, share }) => from <= time && time < to && share > 0);
    if (part) return { finding, ...part };
  }
  return null;
}

// Returns the mark at a pixel of the lane, the most expensive of several; null if there is none.
export function markAt(
  marks: PlacedMark[],
  scale: Scale,
  row: number,
  x: number,
  reach: number,
): PlacedMark | null {
  return (
    marks.find(
      (mark) =>
        mark.row === row &&
        scale.x(mark.ts_ns) - reach <= x &&
        x <= Math.max(scale.x(mark.end), scale.x(mark.ts_ns)) + reach,
    ) ?? null
  );
}
