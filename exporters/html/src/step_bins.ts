// Makes bars of steps. A bar holds several steps if there are more steps than fit.
import type { Run } from './run.ts';
import { plural } from './text.ts';

export interface Bin {
  steps: number;
  longest: number; // index in run.steps
  mean: number; // ns per step
  parts: number[]; // ns per step, by part of run.step_parts; empty if not known yet
  idle: Idle | null; // idle time of their devices; null if not known
  warmUp: boolean; // whether all steps are warm-up
  from: number | null; // ns; the time that the steps cover
  to: number | null;
}

// Returns at most `most` bins of the steps with these indexes. All bins but the last have equally
// many steps.
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
    idle: idleOf(run, indexes),
    warmUp: steps.every((step) => step.warm_up),
    from: times.length === 0 ? null : Math.min(...times.map((step) => step.ts_ns!)),
    to:
      times.length === 0
        ? null
        : Math.max(...times.map((step) => step.ts_ns! + (step.dur_ns ?? 0))),
  };
}

// Returns the duration that the full height represents: that of the longest bin without warm-up,
// because warm-up would dwarf the others.
export function scaleOf(bins: Bin[]): number {
  const steady = bins.filter((bin) => !bin.warmUp);
  return Math.max(1, ...(steady.length === 0 ? bins : steady).map((bin) => bin.mean));
}

// The idle time of devices in the steps for which it is known. It overlaps the steps' parts.
export interface Idle {
  of: string; // the device, or the number of devices
  ns: number; // mean per device and step
  part: number; // share of the steps' time
}

export function idleOf({ steps, devices }: Run, indexes: number[]): Idle | null {
  const names = new Set<string>();
  let [ns, all, known] = [0, 0, 0];
  for (const { name, idle_ns } of devices)
    for (const i of indexes) {
      const idle = idle_ns[i];
      if (idle === null) continue;
      names.add(name);
      ns += idle;
      all += steps[i].dur_ns ?? 0;
      ++known;
    }
  if (all === 0) return null;
  const of = names.size === 1 ? [...names][0] : plural(names.size, 'device');
  return { of, ns: ns / known, part: ns / all };
}

// The idle time of a process's devices after warm-up, as findings name it. It includes the time
// between steps.
export interface SteadyIdle {
  of: string; // the device, or the number of devices
  part: number; // share of the steady time
  inSteps: number | null; // share of the time inside steady steps
}

export function steadyIdle(run: Run, process: number): SteadyIdle | null {
  const devices = run.devices.filter((of) => of.process === process && of.steady_ns > 0);
  const inSteps = idleOf(run, steadySteps(run, process));
  if (devices.length === 0) return inSteps && { ...inSteps, inSteps: inSteps.part };
  const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
  const idle = sum(devices.map((device) => device.steady_idle_ns));
  return {
    of: devices.length === 1 ? devices[0].name : plural(devices.length, 'device'),
    part: idle / sum(devices.map((device) => device.steady_ns)),
    inSteps: inSteps?.part ?? null,
  };
}

// Returns the steps with a length that are not warm-up, or all such steps if all are warm-up.
function steadySteps(run: Run, process: number): number[] {
  const timed = run.steps.flatMap((step, i) =>
    step.process === process && step.dur_ns !== null ? [i] : [],
  );
  const steady = timed.filter((i) => !run.steps[i].warm_up);
  return steady.length === 0 ? timed : steady;
}

// Returns the mean shares of the parts in these steps, without parts that take no time.
export function meanParts(run: Run, process: number): { name: string; part: number }[] {
  const steps = steadySteps(run, process);
  const sums = run.step_parts.map((_, part) =>
    steps.reduce((sum, i) => sum + run.step_parts_ns[i][part], 0),
  );
  const all = sums.reduce((a, b) => a + b, 0) || 1;
  return run.step_parts
    .map((name, i) => ({ name, part: sums[i] / all }))
    .filter(({ part }) => part > 0);
}
