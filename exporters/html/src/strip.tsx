// The summary strip shows where the time of each step went, with one bar per step, or per several
// steps if there are too many.
import { useMemo, useRef, useState } from 'preact/hooks';
import { Canvas } from './canvas.tsx';
import { useShared, useShown, useViewer } from './context.ts';
import { measureStep, stepLines } from './pick.ts';
import type { Run } from './run.ts';
import { type Bin, binsOf, type Idle, meanParts, scaleOf, steadyIdle } from './step_bins.ts';
import type { Surface } from './surface.ts';
import { duration, percent, plural, printable, share } from './text.ts';
import type { Viewer } from './viewer.ts';

const kNarrowestBar = 3; // CSS pixels
const kWidestBar = 96;
const kIdleHeight = 12;
const kSmall = 0.1; // shares below this keep a decimal place
const kGapsBetween =
  'The time after warm-up includes the gaps between steps. The bars show idle time in steps only.';
const kDiffers = 0.005; // shares of idle time that differ by less look the same

export function Strip() {
  const viewer = useViewer();
  useShown((state) => state.concluded);
  const processes = viewer.run.processes.filter(({ id }) =>
    viewer.run.steps.some((step) => step.process === id && step.dur_ns !== null),
  );
  const [chosen, choose] = useState(0);
  if (processes.length === 0) return null;
  const process = processes[Math.min(chosen, processes.length - 1)];
  return (
    <section class="strip" aria-label="Steps: where the time went">
      <div class="corner" role="group" aria-label="Shares of the time" tabIndex={0}>
        <b>Steps</b>
        {processes.length > 1 && (
          <select
            aria-label="Process"
            value={chosen}
            onChange={(event) => choose(Number(event.currentTarget.value))}
          >
            {processes.map(({ name, detail }, i) => (
              <option value={i}>{printable(detail ? `${name}, ${detail}` : name, 60)}</option>
            ))}
          </select>
        )}
        <Legend process={process.id} />
      </div>
      <Bars key={process.id} process={process.id} />
    </section>
  );
}

function Legend({ process }: { process: number }) {
  const { viewer, frames } = useShared();
  useShown((state) => state.theme);
  const parts = meanParts(viewer.run, process);
  const idle = steadyIdle(viewer.run, process);
  return (
    <ul class="legend">
      {parts.map(({ name, part }) => (
        <li title={`${name}: ${percent(part)} of the time of steps after warm-up`}>
          <i style={{ background: frames.colours.part(name) }} />
          <b>{printable(name, 40)}</b>
          <span>{share(part)}</span>
        </li>
      ))}
      {idle && (
        <li
          class="idle"
          title={`${idle.of} idle: ${percent(idle.part)} of the time after warm-up, whatever the host did`}
        >
          <i style={{ background: frames.colours.gap }} />
          <b>{printable(idle.of, 40)} idle</b>
          <span>{idle.part < kSmall ? percent(idle.part) : share(idle.part)}</span>
        </li>
      )}
      {idle && idle.inSteps !== null && Math.abs(idle.inSteps - idle.part) >= kDiffers && (
        <li class="note" title={kGapsBetween}>
          {percent(idle.inSteps)} in steps, {idle.part > idle.inSteps ? 'more' : 'less'} between
          them
        </li>
      )}
    </ul>
  );
}

function Bars({ process }: { process: number }) {
  const viewer = useViewer();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [at, setAt] = useState<number | null>(null); // index in run.steps; the arrow keys move it
  const steps = useMemo(
    () =>
      viewer.run.steps.flatMap((step, i) =>
        step.process === process && step.dur_ns !== null ? [i] : [],
      ),
    [process],
  );
  const kept = useRef<{ run: Run; most: number; bins: Bin[] } | null>(null);
  const bins = (): Bin[] => {
    const { run } = viewer;
    const most = Math.floor(canvas.current!.clientWidth / kNarrowestBar);
    if (kept.current?.run !== run || kept.current.most !== most)
      kept.current = { run, most, bins: binsOf(run, steps, most) };
    return kept.current.bins;
  };
  const binAt = (x: number): Bin | undefined => {
    const all = bins();
    return all[Math.floor(x / barWidth(canvas.current!.clientWidth, all.length))];
  };
  const go = (step: number) => {
    setAt(step);
    viewer.say(stepLines(viewer, step).join('; '));
    measureStep(viewer, step);
  };
  return (
    <div
      class="bars"
      role="slider"
      tabIndex={0}
      data-arrows
      aria-label="Step"
      aria-valuemin={0}
      aria-valuemax={steps.length - 1}
      aria-valuenow={at === null ? 0 : steps.indexOf(at)}
      aria-valuetext={at === null ? plural(steps.length, 'step') : stepLines(viewer, at)[0]}
      onKeyDown={(event) => {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (by === undefined) return;
        const next =
          steps[Math.max(0, Math.min(steps.length - 1, at === null ? 0 : steps.indexOf(at) + by))];
        go(next);
        event.preventDefault();
      }}
      onClick={(event) => {
        const bin = binAt(event.offsetX);
        if (bin) go(bin.longest);
      }}
      onPointerMove={(event) => {
        const bin = binAt(event.offsetX);
        const more = bin && bin.steps > 1 ? [`the longest of ${plural(bin.steps, 'step')}`] : [];
        viewer.hover.set({
          time: null,
          x: event.clientX,
          y: event.clientY,
          lines: bin ? [...stepLines(viewer, bin.longest), ...more] : [],
        });
      }}
      onPointerLeave={() => viewer.hover.set({ lines: [] })}
    >
      <Canvas of={canvas} paint={(surface) => paint(surface, viewer, bins())} />
    </div>
  );
}

// Returns the width of a bar in the unit of `width`: CSS pixels, or device pixels.
function barWidth(width: number, bars: number, unit = 1): number {
  return Math.min(width / bars, kWidestBar * unit);
}

// Draws, below a step's bar, the shares of its time in which its devices worked (at the bottom) and
// were idle (at the top).
function paintIdle(
  { ctx, colours, unit }: Surface,
  { part }: Idle,
  left: number,
  top: number,
  width: number,
): void {
  const height = Math.round(kIdleHeight * unit);
  const idle = Math.round(height * part);
  ctx.fillStyle = colours.gap;
  ctx.fillRect(left, top, width, idle);
  ctx.fillStyle = colours.areaLine;
  ctx.fillRect(left, top + idle, width, height - idle);
}

function paint(surface: Surface, viewer: Viewer, bins: Bin[]): void {
  const { ctx, colours, words, width, height, unit } = surface;
  const line = Math.max(1, Math.round(unit));
  const each = barWidth(width, bins.length, unit);
  const top = 4 * unit;
  const hasIdle = bins.some((bin) => bin.idle !== null);
  const bottom = height - 5 * unit - (hasIdle ? kIdleHeight * unit + 2 * line : 0);
  const most = scaleOf(bins);
  const { from, to } = viewer.window;
  bins.forEach((bin, i) => {
    const left = Math.round(i * each);
    const wide = Math.max(1, Math.round((i + 1) * each) - left - (each > 4 * line ? line : 0));
    // A bar that is too long is shortened as a whole, so that its proportions stay right.
    const isCut = bin.mean > most;
    const perNs = (bottom - top) / (isCut ? bin.mean : most);
    let y = bottom;
    if (bin.parts.length === 0) {
      ctx.fillStyle = colours.faint;
      ctx.fillRect(left, Math.round(Math.max(top, y - bin.mean * perNs)), wide, Math.round(y));
    }
    bin.parts.forEach((ns, part) => {
      const next = Math.max(top, y - ns * perNs);
      ctx.fillStyle = colours.part(viewer.run.step_parts[part]);
      ctx.fillRect(left, Math.round(next), wide, Math.round(y) - Math.round(next));
      y = next;
    });
    if (bin.idle !== null) paintIdle(surface, bin.idle, left, Math.round(bottom) + 2 * line, wide);
    if (isCut) {
      ctx.fillStyle = colours.back;
      ctx.fillRect(left, top + 5 * unit, wide, 2 * line);
      const text = duration(bin.mean);
      if (words.width(text) < wide - 4 * unit) {
        ctx.fillStyle = colours.compileText;
        words.draw(text, left + 3 * unit, top + 16 * unit, wide);
      }
    }
    if (bin.from !== null && bin.to !== null && bin.to >= from && bin.from <= to) {
      ctx.fillStyle = colours.accent;
      ctx.fillRect(left, height - 3 * line, Math.round((i + 1) * each) - left, 2 * line);
    }
  });
  const scale = duration(most);
  const x = width - words.width(scale) - 4 * unit;
  ctx.fillStyle = colours.back;
  ctx.fillRect(x - 4 * unit, 0, width, top + 14 * unit);
  ctx.fillStyle = colours.faint;
  words.draw(scale, x, top + 6 * unit, Infinity);
}
