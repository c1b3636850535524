// Draws all canvases together, at most once per frame.
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

  // Call this when the page's theme has changed.
  newColours(): void {
    this.colours = readColours();
    this.request();
  }

  // Adds a function that draws. Returns a function that removes it.
  add(paint: () => void): () => void {
    this.painters.add(paint);
    this.request();
    return () => this.painters.delete(paint);
  }
}
