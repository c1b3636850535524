// The colours that canvases draw with. The colour of a name depends on the name alone, so it is the
// same in every run. The other colours come from the style sheet.
import { fromOklch, hex, type Rgb } from './oklch.ts';

export const kHues = 48;

// Returns the hue of a name, 0 to kHues - 1. A number at the end does not matter, so fusion.12 and
// fusion.13 look alike.
export function hueOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0, end = lengthWithoutNumber(name); i < end; ++i)
    hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) >>> 0) % kHues;
}

function lengthWithoutNumber(name: string): number {
  let end = Math.min(name.length, 256);
  while (end > 0 && /[\d.#:_-]/.test(name[end - 1])) --end;
  return end || name.length;
}

// Fill colours for names, and the colour of text on them.
export interface Fills {
  text: Rgb;
  fills: Rgb[];
}

export function fillsFor(dark: boolean): Fills {
  const hues = Array.from({ length: kHues }, (_, i) => i);
  return dark
    ? {
        text: [0.93, 0.94, 0.96],
        fills: hues.map((i) => fromOklch(i % 2 ? 0.44 : 0.39, 0.075, (i * 360) / kHues)),
      }
    : {
        text: [0.1, 0.11, 0.13],
        fills: hues.map((i) => fromOklch(i % 2 ? 0.86 : 0.81, 0.075, (i * 360) / kHues)),
      };
}

export interface Colours {
  dark: boolean;
  text: string;
  faint: string; // less important lines and labels
  grid: string;
  back: string; // background of a lane
  stripe: string; // background of a process's band
  accent: string;
  unknown: string; // times that no source covers
  step: string;
  area: string; // area of a counter; areaLine is its upper edge
  areaLine: string;
  compile: string;
  compileText: string;
  gap: string;
  dimmed: string; // slices that do not match the search
  onFill: string;
  fills: string[];
  severity: { error: string; warning: string; info: string };
  part: (name: string) => string;
}

// Colours of a step's parts, by their names in run.step_parts.
const parts: Record<string, string> = {
  tracing: '--part-tracing',
  compile: '--part-compile',
  execute: '--part-execute',
  transfer: '--part-transfer',
  input: '--part-input',
  'your code': '--part-user',
  runtime: '--part-runtime',
  unrecorded: '--part-idle',
};

// Reads the colours of the page's current theme.
export function readColours(): Colours {
  const style = getComputedStyle(document.documentElement);
  const css = (name: string) => style.getPropertyValue(name).trim();
  const dark = document.documentElement.dataset.theme === 'dark';
  const { text, fills } = fillsFor(dark);
  return {
    dark,
    text: css('--text'),
    faint: css('--faint'),
    grid: css('--grid'),
    back: css('--back'),
    stripe: css('--stripe'),
    accent: css('--accent'),
    unknown: css('--unknown'),
    step: css('--step'),
    area: css('--area'),
    areaLine: css('--area-line'),
    compile: css('--compile'),
    compileText: css('--compile-text'),
    gap: css('--gap'),
    dimmed: css('--dimmed'),
    onFill: hex(text),
    fills: fills.map(hex),
    severity: { error: css('--error'), warning: css('--warning'), info: css('--info') },
    part: (name) => (parts[name] ? css(parts[name]) : hex(fills[hueOf(name)])),
  };
}
