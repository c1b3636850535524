// Measures text on a canvas, and draws the part of it that fits.
import { printable } from './text.ts';

const kMostKept = 20_000; // widths in the cache

export class Words {
  private readonly widths = new Map<string, number>();

  constructor(
    private readonly ctx: CanvasRenderingContext2D,
    font: string,
  ) {
    ctx.font = font;
  }

  width(text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      if (this.widths.size >= kMostKept) this.widths.clear();
      width = this.ctx.measureText(text).width;
      this.widths.set(text, width);
    }
    return width;
  }

  // Draws the part of `text` that fits into `room` pixels, or nothing if that is too short to read.
  draw(text: string, x: number, y: number, room: number): void {
    const shown = printable(text, 256);
    const width = this.width(shown);
    if (width <= room) {
      this.ctx.fillText(shown, x, y);
      return;
    }
    const letters = Math.floor((room / width) * shown.length) - 1;
    if (letters >= 2) this.ctx.fillText(shown.slice(0, letters) + '…', x, y, room);
  }
}
