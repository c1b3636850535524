// Handles the pointer on a canvas of the timeline: wheel, drag and click.
import { type RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Scale } from './axis.ts';
import { useViewer } from './context.ts';
import type { Viewer } from './viewer.ts';

export interface Hands {
  wheel: 'scrolls' | 'zooms'; // with ctrl the wheel always zooms
  lanesBetween?: (y0: number, y1: number) => number[]; // CSS pixels; unset: ranges cover all lanes
  click?: (x: number, y: number) => void; // CSS pixels
  doubleClick?: (x: number, y: number) => void;
  linesAt?: (x: number, y: number) => string[]; // the tooltip at a place
}

const kClickReach = 4; // CSS pixels; a shorter movement is a click
const kLine = 16; // CSS pixels per line of a wheel event

export function useHands(of: RefObject<HTMLCanvasElement | null>, hands: Hands): void {
  const viewer = useViewer();
  const latest = useRef(hands);
  latest.current = hands;
  useEffect(() => attach(of.current!, viewer, () => latest.current), [viewer]);
}

// Attaches the listeners. Returns a function that removes them.
function attach(canvas: HTMLCanvasElement, viewer: Viewer, hands: () => Hands): () => void {
  const ended = new AbortController();
  const on = <K extends keyof HTMLElementEventMap>(
    type: K,
    listener: (event: HTMLElementEventMap[K]) => void,
  ) => canvas.addEventListener(type, listener, { signal: ended.signal, passive: false });
  const scale = () => new Scale(viewer.window.from, viewer.window.to, canvas.clientWidth);
  let drag: Drag | null = null;

  on('wheel', (event) => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? kLine : event.deltaMode === 2 ? canvas.clientHeight : 1;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    if (event.ctrlKey || event.metaKey || (hands().wheel === 'zooms' && !event.shiftKey)) {
      const turned = Math.max(-60, Math.min(60, dy));
      viewer.zoom(Math.exp(turned * 0.006), scale().time(event.offsetX));
    } else {
      const across = event.shiftKey && dx === 0 ? dy : dx;
      if (across !== 0) viewer.pan(across / canvas.clientWidth);
      else viewer.scrollBy(dy);
    }
  });
  on('pointerdown', (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    drag = event.shiftKey
      ? new Panning(viewer, event, scale())
      : new Measuring(viewer, event, scale(), hands());
  });
  on('pointermove', (event) => {
    if (drag !== null) drag.move(event);
    const lines = drag?.moved ? [] : (hands().linesAt?.(event.offsetX, event.offsetY) ?? []);
    const time = scale().time(event.offsetX);
    viewer.hover.set({ time, x: event.clientX, y: event.clientY, lines });
  });
  on('pointerup', (event) => {
    const done = drag;
    drag = null;
    if (done === null) return;
    if (done.moved) done.end(event);
    else hands().click?.(event.offsetX, event.offsetY);
  });
  on('pointercancel', () => (drag = null));
  on('pointerleave', () => viewer.hover.set({ time: null, lines: [] }));
  on('dblclick', (event) => hands().doubleClick?.(event.offsetX, event.offsetY));
  return () => ended.abort();
}

abstract class Drag {
  moved = false;

  constructor(
    protected readonly viewer: Viewer,
    protected readonly start: PointerEvent,
    protected readonly scale: Scale,
  ) {}

  move(event: PointerEvent): void {
    const away = Math.hypot(event.clientX - this.start.clientX, event.clientY - this.start.clientY);
    if (away >= kClickReach) this.moved = true;
    if (this.moved) this.to(event);
  }

  protected abstract to(event: PointerEvent): void;
  abstract end(event: PointerEvent): void;
}

class Panning extends Drag {
  private y = this.start.clientY;

  protected to(event: PointerEvent): void {
    const by = (event.clientX - this.start.clientX) / this.scale.perNs;
    this.viewer.show({ from: this.scale.from - by, to: this.scale.to - by });
    this.viewer.scrollBy(this.y - event.clientY);
    this.y = event.clientY;
  }

  end(): void {}
}

class Measuring extends Drag {
  private readonly y0 = this.start.offsetY;
  private readonly x0 = this.start.offsetX;

  constructor(
    viewer: Viewer,
    start: PointerEvent,
    scale: Scale,
    private readonly hands: Hands,
  ) {
    super(viewer, start, scale);
  }

  private range(event: PointerEvent) {
    const [a, b] = [this.x0, event.offsetX].map((x) => this.scale.time(x)).sort((a, b) => a - b);
    const [top, bottom] = [this.y0, event.offsetY].sort((a, b) => a - b);
    const lanes = this.hands.lanesBetween?.(top, bottom) ?? null;
    return { from: Math.round(a), to: Math.round(b), lanes: lanes?.length === 0 ? null : lanes };
  }

  protected to(event: PointerEvent): void {
    this.viewer.stretch(this.range(event));
  }

  end(event: PointerEvent): void {
    this.viewer.measure(this.range(event));
  }
}
