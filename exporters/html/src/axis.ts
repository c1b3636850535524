// The window of time that is shown, and what its ruler says.
import { duration, exactTime } from './text.ts';

// ns since the view's origin; from < to.
export interface Window {
  from: number;
  to: number;
}

export const kNarrowest = 20; // ns

// Pixels of a window that is `width` pixels wide.
export class Scale {
  readonly perNs: number;

  constructor(
    readonly from: number,
    readonly to: number,
    readonly width: number,
  ) {
    this.perNs = width / (to - from);
  }

  x(time: number): number {
    return (time - this.from) * this.perNs;
  }

  // Within bounds that a canvas can draw to.
  pixel(time: number): number {
    return Math.max(-9, Math.min(this.width + 9, Math.round(this.x(time))));
  }

  time(x: number): number {
    return this.from + x / this.perNs;
  }
}

// `window` made as wide as may be, and moved so that at least half of it shows what lies between 0
// and `end`.
export function bounded({ from, to }: Window, end: number): Window {
  const widest = Math.max(end * 1.5, kNarrowest);
  const width = Math.min(Math.max(to - from, kNarrowest), widest);
  const middle = Math.min(Math.max((from + to) / 2, 0), Math.max(end, 0));
  return { from: middle - width / 2, to: middle + width / 2 };
}

// Zoomed by `factor` (2: twice as wide) with the time `at` where it is.
export function zoomed({ from, to }: Window, factor: number, at: number): Window {
  const width = to - from;
  const kept = Math.max(factor * width, kNarrowest) / width;
  return { from: at - (at - from) * kept, to: at + (to - at) * kept };
}

// With room on both sides.
export function around(ts: number, dur: number, room = 0.1): Window {
  const width = Math.max(dur, kNarrowest);
  const spare = width * room + (width - dur) / 2;
  return { from: ts - spare, to: ts + dur + spare };
}

// The part of `window` that lies in `whole`.
export function within(window: Window, whole: Window): Window {
  return { from: Math.max(window.from, whole.from), to: Math.min(window.to, whole.to) };
}

export interface Ticks {
  base: string; // what every label is counted from; "" if from 0
  times: number[];
  labels: string[];
}

// Ticks at least `apart` pixels apart, at 1, 2 or 5 times a power of ten.
export function ticksOf(scale: Scale, apart: number): Ticks {
  const least = Math.max(1, apart / scale.perNs);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((n) => n * power).find((step) => step >= least) ?? 10 * power;
  const first = Math.ceil(scale.from / step) * step;
  const times: number[] = [];
  for (let time = first; time <= scale.to; time += step) times.push(time);
  // Deep inside a long run, the digits that all labels share are said once.
  const coarse = 10 ** Math.ceil(Math.log10(scale.to - scale.from) + 0.5);
  const base = scale.from > coarse * 10 ? Math.floor(scale.from / coarse) * coarse : 0;
  const labels = times.map((time) => (base > 0 ? '+' : '') + exactTime(time - base));
  return { base: base > 0 ? exactTime(base) : '', times, labels };
}

export function windowText({ from, to }: Window): string {
  return duration(to - from);
}
