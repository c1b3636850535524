// The ruler shows the whole run with the visible window in it, ticks, the measured range and flags.
import { useRef } from 'preact/hooks';
import { Scale, ticksOf, type Ticks, windowText } from './axis.ts';
import { kFilterId } from './keys.ts';
import { Canvas } from './canvas.tsx';
import { useShown, useViewer } from './context.ts';
import { useHands } from './hands.ts';
import { kTickApart, paintUncovered } from './paint_pane.ts';
import type { Surface } from './surface.ts';
import { duration, exactTime } from './text.ts';
import type { Viewer } from './viewer.ts';

const kOverview = 10; // CSS pixels

export function Ruler() {
  const viewer = useViewer();
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useShown((state) => windowText(state));
  const base = useShown((state) => baseText(state));
  const whole = (x: number) =>
    new Scale(0, viewer.run.span.end_ns || 1, canvas.current!.clientWidth).time(x);
  useHands(canvas, {
    wheel: 'zooms',
    click: (x, y) => {
      const { from, to } = viewer.window;
      const flag = flagAt(viewer, x, canvas.current!.clientWidth);
      if (y < kOverview)
        viewer.show({ from: whole(x) - (to - from) / 2, to: whole(x) + (to - from) / 2 });
      else if (flag) viewer.showSpan(flag);
      else viewer.store.set({ range: null, totals: null, panel: null });
    },
    linesAt: (x) => [
      exactTime(
        Math.round(
          new Scale(viewer.window.from, viewer.window.to, canvas.current!.clientWidth).time(x),
        ),
      ),
    ],
  });
  return (
    <div class="ruler">
      <div class="corner" title="Length of the visible time; the time from which the ruler counts">
        <b>{width}</b> <span>{base}</span>
        <LaneFilter />
      </div>
      <Canvas of={canvas} paint={(surface) => paint(surface, viewer)} />
    </div>
  );
}

// The field that shows only lanes with such a name.
function LaneFilter() {
  const viewer = useViewer();
  const filter = useShown((state) => state.filter);
  return (
    <input
      id={kFilterId}
      type="text"
      autocomplete="off"
      spellcheck={false}
      placeholder="Filter lanes  ( L )"
      aria-label="Filter lanes by name"
      title="A part of the name of lanes or processes, or a pattern: /TPU:[01]|main/"
      value={filter}
      onInput={(event) => viewer.setFilter(event.currentTarget.value)}
    />
  );
}

function baseText({ from, to }: { from: number; to: number }): string {
  const { base } = ticksOf(new Scale(from, to, 1000), kTickApart);
  return base && `from ${base}`;
}

function flagAt(viewer: Viewer, x: number, width: number) {
  const scale = new Scale(viewer.window.from, viewer.window.to, width);
  return viewer.store.state.flags.find((flag) => Math.abs(scale.x(flag.from) - x) < 6);
}

function paint(surface: Surface, viewer: Viewer): void {
  const { width, height, unit } = surface;
  const { state } = viewer.store;
  const scale = new Scale(state.from, state.to, width);
  paintOverview(surface, viewer, kOverview * unit);
  paintTicks(surface, scale, ticksOf(scale, kTickApart * unit), height);
  if (state.range !== null) paintRange(surface, scale, state.range, height);
  for (const flag of state.flags) paintFlag(surface, scale, flag, height);
}

// Draws the whole run in one line: findings' marks, uncovered times, and the visible window.
function paintOverview(surface: Surface, viewer: Viewer, height: number): void {
  const { ctx, colours, width, unit } = surface;
  const line = Math.max(1, Math.round(unit));
  const whole = new Scale(0, viewer.run.span.end_ns || 1, width);
  ctx.fillStyle = colours.stripe;
  ctx.fillRect(0, 0, width, height);
  paintUncovered(surface, whole, viewer.run.covered, viewer.run.span.end_ns, 0, height);
  // The most expensive finding is drawn last, on top of the others.
  for (const mark of [...viewer.marks].reverse()) {
    const left = whole.pixel(mark.ts_ns);
    ctx.fillStyle = colours.severity[viewer.run.report.findings[mark.finding].severity];
    ctx.fillRect(
      left,
      height - 4 * line,
      Math.max(2 * line, whole.pixel(mark.end) - left),
      3 * line,
    );
  }
  const { from, to } = viewer.window;
  const left = whole.pixel(from);
  const right = Math.max(whole.pixel(to), left + 3 * line);
  ctx.strokeStyle = colours.text;
  ctx.lineWidth = line;
  ctx.strokeRect(left + line / 2, line / 2, right - left - line, height - line);
}

function paintTicks(
  { ctx, words, colours, unit }: Surface,
  scale: Scale,
  { times, labels }: Ticks,
  height: number,
): void {
  const line = Math.max(1, Math.round(unit));
  const top = kOverview * unit;
  times.forEach((time, i) => {
    const x = scale.pixel(time);
    ctx.fillStyle = colours.grid;
    ctx.fillRect(x, top, line, height - top);
    ctx.fillStyle = colours.faint;
    words.draw(labels[i], x + 4 * unit, top + 9 * unit, (kTickApart - 8) * unit);
  });
}

function paintRange(
  { ctx, words, colours, width, unit }: Surface,
  scale: Scale,
  range: { from: number; to: number },
  height: number,
): void {
  const left = scale.pixel(range.from);
  const right = Math.max(left + 1, scale.pixel(range.to));
  const top = height - 16 * unit;
  ctx.fillStyle = colours.accent;
  ctx.fillRect(left, top, right - left, 16 * unit);
  const text = duration(range.to - range.from);
  const textWidth = words.width(text) + 8 * unit;
  const fits = textWidth < right - left;
  const x = fits ? (Math.max(left, 0) + Math.min(right, width) - textWidth) / 2 : right + 1;
  ctx.fillStyle = fits ? colours.accent : colours.back;
  ctx.fillRect(x, top, textWidth, 16 * unit);
  ctx.fillStyle = fits ? colours.back : colours.accent;
  words.draw(text, x + 4 * unit, top + 8.5 * unit, Infinity);
}

function paintFlag(
  { ctx, words, colours, unit }: Surface,
  scale: Scale,
  flag: { from: number; to: number },
  height: number,
): void {
  const x = scale.pixel(flag.from);
  const top = height - 16 * unit;
  ctx.fillStyle = colours.accent;
  ctx.beginPath();
  ctx.moveTo(x, top);
  ctx.lineTo(x + 9 * unit, top + 4 * unit);
  ctx.lineTo(x, top + 8 * unit);
  ctx.fill();
  ctx.fillRect(x, top, Math.max(1, Math.round(unit)), 16 * unit);
  const end = scale.pixel(flag.to);
  if (end > x) ctx.fillRect(x, height - 2 * unit, end - x, 2 * unit);
  words.draw(
    flag.to > flag.from ? duration(flag.to - flag.from) : exactTime(flag.from),
    x + 12 * unit,
    top + 7 * unit,
    160 * unit,
  );
}
