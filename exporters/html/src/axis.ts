// The visible window of time, and the ticks of its ruler.
import { duration, exactTime } from './text.ts';

// A window in ns since the view's origin; from < to.
export interface Window {
  from: number;
  to: number;
}

export const kNarrowest = 20; // ns

// Converts between times and pixels of a window that is `width` pixels wide.
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

  // Returns the pixel of a time, limited to just outside the window, because a canvas cannot draw
  // arbitrarily far away.
  pixel(time: number): number {
    return Math.max(-9, Math.min(this.width + 9, Math.round(this.x(time))));
  }

  time(x: number): number {
    return this.from + x / this.perNs;
  }
}

// Returns the window with its width limited to what is allowed, and moved so that its middle lies
// between 0 and `end`.
export function bounded({ from, to }: Window, end: number): Window {
  const widest = Math.max(end * 1.5, kNarrowest);
  const width = Math.min(Math.max(to - from, kNarrowest), widest);
  const middle = Math.min(Math.max((from + to) / 2, 0), Math.max(end, 0));
  return { from: middle - width / 2, to: middle + width / 2 };
}

// Returns the window zoomed by `factor` (2: twice as wide). The time `at` keeps its place.
export function zoomed({ from, to }: Window, factor: number, at: number): Window {
  const width = to - from;
  const kept = Math.max(factor * width, kNarrowest) / width;
  return { from: at - (at - from) * kept, to: at + (to - at) * kept };
}

// Returns a window around an event, with the part `room` of its length free on each side.
export function around(ts: number, dur: number, room = 0.1): Window {
  const width = Math.max(dur, kNarrowest);
  const spare = width * room + (width - dur) / 2;
  return { from: ts - spare, to: ts + dur + spare };
}

// Returns the part of `window` that lies in `whole`.
export function within(window: Window, whole: Window): Window {
  return { from: Math.max(window.from, whole.from), to: Math.min(window.to, whole.to) };
}

export interface Ticks {
  base: string; // the time from which all labels count; "" if it is 0
  times: number[];
  labels: string[];
}

// Returns ticks at least `apart` pixels apart, at 1, 2 or 5 times a power of ten.
export function ticksOf(scale: Scale, apart: number): Ticks {
  const least = Math.max(1, apart / scale.perNs);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((n) => n * power).find((step) => step >= least) ?? 10 * power;
  const first = Math.ceil(scale.from / step) * step;
  const times: number[] = [];
  for (let time = first; time <= scale.to; time += step) times.push(time);
  // Deep inside a long run, the digits that all labels share are shown only once.
  const coarse = 10 ** Math.ceil(Math.log10(scale.to - scale.from) + 0.5);
  const base = scale.from > coarse * 10 ? Math.floor(scale.from / coarse) * coarse : 0;
  const labels = times.map((time) => (base > 0 ? '+' : '') + exactTime(time - base));
  return { base: base > 0 ? exactTime(base) : '', times, labels };
}

export function windowText({ from, to }: Window): string {
  return duration(to - from);
}
