// Draws a counter as the area under its value, which is valid until the next sample. A merged
// sample extends from its least to its greatest value.
import type { Scale } from './axis.ts';
import { upperBound } from './decode.ts';
import type { CounterRow } from './source.ts';
import type { Surface } from './surface.ts';
import { quantity } from './text.ts';

export function paintCounter(
  surface: Surface,
  scale: Scale,
  samples: CounterRow,
  top: number,
  height: number,
  [least, greatest]: [number, number],
): void {
  const { ctx, unit, colours } = surface;
  const range = greatest - least || 1;
  const line = Math.max(1, Math.round(unit));
  const y = (value: number) =>
    Math.round(top + line + (height - line) * (1 - (value - least) / range));
  const zero = y(Math.min(Math.max(0, least), greatest));
  let column: { x: number; low: number; high: number } | null = null;
  const area = (x: number, width: number, low: number, high: number, value: number) => {
    ctx.fillStyle = colours.area;
    ctx.fillRect(
      x,
      Math.min(high, zero),
      width,
      Math.max(Math.abs(low - high), Math.abs(zero - high)),
    );
    ctx.fillStyle = colours.areaLine;
    if (low > high) ctx.fillRect(x, high, width, low - high);
    else ctx.fillRect(x, y(value), width, line);
  };
  for (let i = Math.max(0, upperBound(samples.ts, scale.from) - 1); i < samples.ts.length; ++i) {
    if (samples.ts[i] > scale.to) break;
    const left = scale.pixel(samples.ts[i]);
    const right = i + 1 < samples.ts.length ? scale.pixel(samples.ts[i + 1]) : scale.width;
    const low = y(samples.least[i]);
    const high = y(samples.greatest[i]);
    if (column !== null && column.x === left) {
      column.low = Math.max(column.low, low);
      column.high = Math.min(column.high, high);
    } else {
      column = { x: left, low, high };
    }
    // Each pixel column is drawn once, with the last sample in it.
    if (right > left) {
      area(left, 1, column.low, column.high, samples.last[i]);
      const last = y(samples.last[i]);
      if (right > left + 1) area(left + 1, right - left - 1, last, last, samples.last[i]);
      column = null;
    }
  }
}

// Writes the greatest value at the top of the lane.
export function paintExtent(
  { ctx, words, unit, width, colours }: Surface,
  top: number,
  [, greatest]: [number, number],
): void {
  const text = quantity(greatest);
  ctx.fillStyle = colours.faint;
  words.draw(text, width - words.width(text) - 6 * unit, top + 8 * unit, Infinity);
}
