// Draws the bounds and numbers of a process's steps on its lane of steps.
import type { Scale } from './axis.ts';
import type { Run } from './run.ts';
import type { Surface } from './surface.ts';

export function paintSteps(
  { ctx, words, colours, unit, width }: Surface,
  scale: Scale,
  run: Run,
  process: number,
  top: number,
  height: number,
): void {
  const line = Math.max(1, Math.round(unit));
  let drawn = -9;
  run.steps.forEach((step, index) => {
    if (step.process !== process || step.ts_ns === null) return;
    const end = step.ts_ns + (step.dur_ns ?? 0);
    if (end < scale.from || step.ts_ns > scale.to) return;
    const left = Math.max(scale.pixel(step.ts_ns), drawn);
    const right = Math.max(scale.pixel(end), left + 1);
    if (right <= drawn) return;
    ctx.fillStyle = colours.step;
    ctx.fillRect(left, top, right - left > 3 * line ? right - left - line : right - left, height);
    drawn = right;
    if (right - left < 24 * unit) return;
    const x = Math.max(left, 0) + 4 * unit;
    ctx.fillStyle = colours.text;
    words.draw(
      `step ${step.number ?? index}${step.warm_up ? ' (warm-up)' : ''}`,
      x,
      top + height / 2,
      Math.min(right, width) - x - 4 * unit,
    );
  });
}
