// One picture a frame, however much changed: all canvases are drawn together.
import { type Colours, readColours } from './colours.ts';

export class Frames {
  colours: Colours = readColours();
  private readonly painters = new Set<() => void>();
  private isAsked = false;

  request(): void {
    if (this.isAsked) return;
    this.isAsked = true;
    requestAnimationFrame(() => {
      this.isAsked = false;
      for (const paint of this.painters) paint();
    });
  }

  // The page's theme is another.
  newColours(): void {
    this.colours = readColours();
    this.request();
  }

  // Returns what ends it.
  add(paint: () => void): () => void {
    this.painters.add(paint);
    this.request();
    return () => this.painters.delete(paint);
  }
}
