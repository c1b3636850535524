// Finds the item at a place of a pane.
import type { Scale } from './axis.ts';
import { type Band, fullName } from './bands.ts';
import { upperBound } from './decode.ts';
import { densityAt, markAt } from './paint_marks.ts';
import { sliceAt } from './paint_slices.ts';
import { kNeverEnded } from './source.ts';
import { idleOf } from './step_bins.ts';
import { duration, mergedText, percent, printable, prose, quantity, share } from './text.ts';

import type { Viewer } from './viewer.ts';

export interface Picked {
  lines: string[]; // text of the tooltip
  choose: () => void;
}

const kReach = 3; // CSS pixels

export function pick(
  viewer: Viewer,
  bands: Band[],
  scale: Scale,
  x: number,
  y: number,
): Picked | null {
  const band = bands.find((band) => band.top <= y && y < band.top + band.height);
  if (band === undefined) return null;
  const inside = y - band.top - viewer.sizes.gap / 2;
  if (band.type === 'process' || band.type === 'device' || band.type === 'idle')
    return { lines: [], choose: () => viewer.toggleFolded(band.key) };
  if (band.type === 'steps') return stepAt(viewer, band.process, scale.time(x));
  if (band.type === 'marks') {
    const row = Math.floor(inside / viewer.sizes.row);
    const mark = markAt(viewer.marks, scale, row, x, kReach);
    const dense = mark === null ? densityAt(viewer.densities, row, scale.time(x)) : null;
    const there = mark ?? dense;
    if (there === null) return null;
    const text = mark ? prose(mark.text) : `${percent(dense!.share)} of the time around here`;
    return {
      lines: [prose(viewer.run.report.findings[there.finding].title), text],
      choose: () => viewer.chooseFinding(there.finding),
    };
  }
  const part = viewer.supply.parts.get(band.lane.id);
  if (part?.samples) {
    const i = upperBound(part.samples.ts, scale.time(x)) - 1;
    return i < 0
      ? null
      : { lines: [`${fullName(band.lane)}: ${quantity(part.samples.last[i])}`], choose: () => {} };
  }
  const index = Math.floor(inside / band.rowHeight);
  const row = part?.rows[index];
  if (!row) return null;
  const i = sliceAt(scale, row, x, kReach, viewer.run.span.end_ns);
  if (i === null) return null;
  const name = viewer.source.names.text(row.name[i]);
  const length = row.dur[i] === kNeverEnded ? 'never ended' : duration(row.dur[i]);
  return {
    lines:
      row.count[i] > 1
        ? [mergedText(row.count[i]), `longest: ${name}`, `together ${length}`]
        : [name, length],
    choose: () => void viewer.choose(row.id[i]),
  };
}

function stepAt(viewer: Viewer, process: number, time: number): Picked | null {
  const index = viewer.run.steps.findIndex(
    ({ process: of, ts_ns, dur_ns }) =>
      of === process && ts_ns !== null && ts_ns <= time && time < ts_ns + (dur_ns ?? 0),
  );
  return index < 0
    ? null
    : { lines: stepLines(viewer, index), choose: () => measureStep(viewer, index) };
}

export function stepLines(viewer: Viewer, index: number): string[] {
  const { steps, step_parts, step_parts_ns } = viewer.run;
  const step = steps[index];
  const idle = idleOf(viewer.run, [index]);
  const parts = step_parts
    .map((name, i) => ({ name, ns: step_parts_ns[index][i] }))
    .filter((part) => part.ns > 0)
    .sort((a, b) => b.ns - a.ns);
  return [
    `step ${step.number ?? index}${step.warm_up ? ' (warm-up)' : ''}, ${duration(step.dur_ns)}`,
    ...parts.map(({ name, ns }) => `${name} ${duration(ns)}`),
    ...(idle ? [`${idle.of} idle ${duration(idle.ns)} (${share(idle.part)})`] : []),
  ];
}

// Measures the time of a step. Moves the window there if the step is outside it or tiny in it.
export function measureStep(viewer: Viewer, index: number): void {
  const { ts_ns, dur_ns } = viewer.run.steps[index];
  if (ts_ns === null) return;
  const end = ts_ns + (dur_ns ?? 0);
  const { from, to } = viewer.window;
  if (end < from || ts_ns > to || end - ts_ns < (to - from) / 100)
    viewer.showSpan({ from: ts_ns, to: end });
  viewer.measure({ from: ts_ns, to: end, lanes: null });
}

export function pickedLines(picked: Picked | null): string[] {
  return picked?.lines.filter((line) => line !== '').map((line) => printable(line, 300)) ?? [];
}
