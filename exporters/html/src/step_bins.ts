// Steps as bars: several a bar where there are more steps than room.
import type { Run } from './run.ts';

export interface Bin {
  steps: number;
  longest: number; // index in run.steps
  mean: number; // ns a step
  parts: number[]; // ns a step, one a part of run.step_parts; none: not known yet
  warmUp: boolean; // all of them
  from: number | null; // ns: where they lie
  to: number | null;
}

// Bins of the steps with these indexes, at most `most` of them, equally many steps in each.
export function binsOf(run: Run, indexes: number[], most: number): Bin[] {
  const each = Math.max(1, Math.ceil(indexes.length / Math.max(1, most)));
  const bins: Bin[] = [];
  for (let at = 0; at < indexes.length; at += each)
    bins.push(binOf(run, indexes.slice(at, at + each)));
  return bins;
}

function binOf(run: Run, indexes: number[]): Bin {
  const steps = indexes.map((index) => run.steps[index]);
  const sum = (values: (number | null)[]) =>
    values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  const times = steps.filter((step) => step.ts_ns !== null);
  return {
    steps: steps.length,
    longest: indexes.reduce((best, i) =>
      (run.steps[i].dur_ns ?? 0) > (run.steps[best].dur_ns ?? 0) ? i : best,
    ),
    mean: sum(steps.map((step) => step.dur_ns)) / steps.length,
    parts: run.step_parts.map(
      (_, part) => sum(indexes.map((i) => run.step_parts_ns[i][part])) / steps.length,
    ),
    warmUp: steps.every((step) => step.warm_up),
    from: times.length === 0 ? null : Math.min(...times.map((step) => step.ts_ns!)),
    to:
      times.length === 0
        ? null
        : Math.max(...times.map((step) => step.ts_ns! + (step.dur_ns ?? 0))),
  };
}

// What the full height stands for: the longest that is not warm-up, which would dwarf the others.
export function scaleOf(bins: Bin[]): number {
  const steady = bins.filter((bin) => !bin.warmUp);
  return Math.max(1, ...(steady.length === 0 ? bins : steady).map((bin) => bin.mean));
}

// The share of each part in the steps that are not warm-up, or in all where there are no others;
// those that are nothing are left out.
export function meanParts(run: Run, process: number): { name: string; part: number }[] {
  const timed = run.steps.flatMap((step, i) =>
    step.process === process && step.dur_ns !== null ? [i] : [],
  );
  const steady = timed.filter((i) => !run.steps[i].warm_up);
  const steps = steady.length === 0 ? timed : steady;
  const sums = run.step_parts.map((_, part) =>
    steps.reduce((sum, i) => sum + run.step_parts_ns[i][part], 0),
  );
  const all = sums.reduce((a, b) => a + b, 0) || 1;
  return run.step_parts
    .map((name, i) => ({ name, part: sums[i] / all }))
    .filter(({ part }) => part > 0);
}
