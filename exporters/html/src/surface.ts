// A canvas that has as many pixels as its element has on the device.
import type { Colours } from './colours.ts';
import { Words } from './words.ts';

export interface Surface {
  ctx: CanvasRenderingContext2D;
  width: number; // device pixels, like all coordinates for drawing
  height: number;
  unit: number; // device pixels per CSS pixel
  words: Words;
  colours: Colours;
}

// Returns the surface of `canvas`, cleared. `before` is the surface that the previous call
// returned.
export function surfaceOf(
  canvas: HTMLCanvasElement,
  colours: Colours,
  before: Surface | null,
): Surface {
  const unit = window.devicePixelRatio || 1;
  const width = Math.max(1, Math.round(canvas.clientWidth * unit));
  const height = Math.max(1, Math.round(canvas.clientHeight * unit));
  let surface = before;
  if (
    surface === null ||
    surface.width !== width ||
    surface.height !== height ||
    surface.unit !== unit
  ) {
    canvas.width = width;
    canvas.height = height;
    const ctx = canvas.getContext('2d', { alpha: false })!;
    const style = getComputedStyle(canvas);
    const words = new Words(ctx, `${parseFloat(style.fontSize) * unit}px ${style.fontFamily}`);
    ctx.textBaseline = 'middle';
    ctx.direction = 'ltr'; // so a name in a right-to-left script starts at its place, too
    surface = { ctx, width, height, unit, words, colours };
  }
  surface.colours = colours;
  surface.ctx.fillStyle = colours.back;
  surface.ctx.fillRect(0, 0, width, height);
  return surface;
}

function hatch({ ctx, unit }: Surface, colour: string): CanvasPattern {
  const size = Math.round(6 * unit);
  const tile = document.createElement('canvas');
  tile.width = tile.height = size;
  const on = tile.getContext('2d')!;
  on.strokeStyle = colour;
  on.lineWidth = unit;
  on.beginPath();
  for (const shift of [-size, 0, size]) {
    on.moveTo(shift, size);
    on.lineTo(shift + size, 0);
  }
  on.stroke();
  return ctx.createPattern(tile, 'repeat')!;
}

const patterns = new Map<string, CanvasPattern>();

// Returns a fill pattern of diagonal lines. It is made once per colour and pixel size.
export function hatched(surface: Surface, colour: string): CanvasPattern {
  const key = `${colour} ${surface.unit}`;
  let pattern = patterns.get(key);
  if (pattern === undefined) patterns.set(key, (pattern = hatch(surface, colour)));
  return pattern;
}
