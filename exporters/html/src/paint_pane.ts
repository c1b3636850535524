// Draws the bands of a pane: the lanes with their contents, and on top of them the selection.
import { Scale, ticksOf } from './axis.ts';
import { type Band, between } from './bands.ts';
import { hueOf } from './colours.ts';
import { type PlacedMark, marksOf } from './marks.ts';
import { paintCounter, paintExtent } from './paint_counter.ts';
import { paintMarks } from './paint_marks.ts';
import { paintFlows } from './paint_flows.ts';
import { paintRow, type SliceLook } from './paint_slices.ts';
import { paintSteps } from './paint_steps.ts';
import type { SliceRow } from './source.ts';
import type { Span } from './state.ts';
import { hatched, type Surface } from './surface.ts';
import { mergedText } from './text.ts';
import type { Viewer } from './viewer.ts';

export const kTickApart = 110; // CSS pixels

export class PanePainter {
  private readonly hues: number[] = []; // by the index of a name
  private readonly compile: number;

  constructor(
    private readonly viewer: Viewer,
    private readonly name: string,
  ) {
    this.compile = viewer.run.categories.indexOf('compile');
  }

  paint(surface: Surface, bands: Band[], scrollTop: number): void {
    const { viewer } = this;
    const { unit, width, height } = surface;
    const { state } = viewer.store;
    const scale = new Scale(state.from, state.to, width);
    const shown = between(bands, scrollTop, scrollTop + height / unit);
    const y = (top: number) => Math.round((top - scrollTop) * unit);
    this.supply(shown, scale);
    this.background(surface, scale);
    for (const band of shown) this.band(surface, scale, band, y);
    this.overlays(surface, scale, bands, y);
  }

  private supply(shown: Band[], scale: Scale): void {
    const lanes = shown.flatMap((band) => (band.type === 'lane' ? [band.lane.id] : []));
    this.viewer.wanted(this.name, lanes, scale);
  }

  private background(surface: Surface, scale: Scale): void {
    const { ctx, colours, height, unit } = surface;
    const line = Math.max(1, Math.round(unit));
    ctx.fillStyle = colours.grid;
    for (const time of ticksOf(scale, kTickApart * unit).times)
      ctx.fillRect(scale.pixel(time), 0, line, height);
    paintUncovered(surface, scale, this.viewer.run.covered, this.viewer.run.span.end_ns, 0, height);
    const { range } = this.viewer.store.state;
    if (range !== null && range.lanes === null) paintRange(surface, scale, range, 0, height);
  }

  private band(surface: Surface, scale: Scale, band: Band, y: (top: number) => number): void {
    const { ctx, colours, width, unit } = surface;
    const top = y(band.top);
    const height = y(band.top + band.height) - top;
    const line = Math.max(1, Math.round(unit));
    if (band.type === 'process' || band.type === 'device' || band.type === 'idle') {
      ctx.fillStyle = colours.stripe;
      ctx.fillRect(0, top, width, height);
      return;
    }
    const gap = Math.round(this.viewer.sizes.gap * unit);
    const inner = top + Math.round(gap / 2);
    if (band.type === 'steps')
      paintSteps(surface, scale, this.viewer.run, band.process, inner, height - gap);
    else if (band.type === 'marks') paintMarks(surface, scale, this.viewer, inner);
    else this.lane(surface, scale, band, inner, height - gap);
    ctx.fillStyle = colours.grid;
    ctx.fillRect(0, top + height - line, width, line);
  }

  private lane(
    surface: Surface,
    scale: Scale,
    band: Band & { type: 'lane' },
    top: number,
    height: number,
  ): void {
    const { viewer } = this;
    const { unit } = surface;
    const { range } = viewer.store.state;
    if (range?.lanes?.includes(band.lane.id)) paintRange(surface, scale, range, top, height);
    const part = viewer.supply.parts.get(band.lane.id);
    if (part === undefined) return;
    if (part.samples !== null) {
      const extent = viewer.supply.extents.get(band.lane.id)!;
      paintCounter(surface, scale, part.samples, top, height, extent);
      paintExtent(surface, top, extent);
      return;
    }
    if (band.lane.device !== null) this.gaps(surface, scale, band.lane.device, top, height);
    const look = this.look(surface);
    const rowHeight = Math.round(band.rowHeight * unit);
    const between = rowHeight > 6 * unit ? Math.round(unit) : 0;
    part.rows.forEach((row, i) => {
      const rowTop = top + i * rowHeight;
      if (
        rowTop + rowHeight <= top + height + unit &&
        rowTop < surface.height &&
        rowTop + rowHeight > 0
      )
        paintRow(surface, scale, row, rowTop, rowHeight - between, look);
    });
  }

  private look({ colours }: Surface): SliceLook {
    const { names, run } = this.viewer.source;
    const { matches } = this.viewer.store.state;
    const isDimmed = (row: SliceRow, i: number) => matches !== null && matches[row.name[i]] !== 1;
    return {
      end: run.span.end_ns,
      fill: (row, i) =>
        isDimmed(row, i)
          ? colours.dimmed
          : row.category[i] === this.compile
            ? colours.compile
            : colours.fills[this.hue(row.name[i])],
      label: (row, i) => (row.count[i] > 1 ? mergedText(row.count[i]) : names.text(row.name[i])),
      labelFill: (row, i) =>
        isDimmed(row, i)
          ? colours.faint
          : row.category[i] === this.compile
            ? colours.compileText
            : colours.onFill,
    };
  }

  private hue(name: number): number {
    return (this.hues[name] ??= hueOf(this.viewer.source.names.text(name)));
  }

  // Draws the times in which a finding says that this device idles or waits.
  private gaps(surface: Surface, scale: Scale, device: string, top: number, height: number): void {
    const { ctx, colours, unit } = surface;
    for (const mark of this.viewer.gapsOf(device)) {
      if (mark.end < scale.from || mark.ts_ns > scale.to) continue;
      const left = scale.pixel(mark.ts_ns);
      const width = Math.max(Math.round(unit), scale.pixel(mark.end) - left);
      ctx.fillStyle = hatched(surface, colours.gap);
      ctx.fillRect(left, top, width, height - Math.round(unit));
    }
  }

  private overlays(
    surface: Surface,
    scale: Scale,
    bands: Band[],
    y: (top: number) => number,
  ): void {
    const { ctx, colours, height, unit } = surface;
    const { state } = this.viewer.store;
    const line = Math.max(1, Math.round(unit));
    paintEvidence(surface, scale, marksOf(this.viewer.marks, state.finding), this.viewer);
    ctx.fillStyle = colours.accent;
    for (const flag of state.flags)
      for (const time of new Set([flag.from, flag.to]))
        ctx.fillRect(scale.pixel(time), 0, line, height);
    if (state.range !== null)
      for (const time of [state.range.from, state.range.to])
        ctx.fillRect(scale.pixel(time), 0, line, height);
    if (state.detail !== null) paintFlows(surface, scale, this.viewer, state.detail, bands, y);
  }
}

function paintRange(
  { ctx, colours, unit }: Surface,
  scale: Scale,
  range: Span,
  top: number,
  height: number,
): void {
  const left = scale.pixel(range.from);
  ctx.globalAlpha = 0.12;
  ctx.fillStyle = colours.accent;
  ctx.fillRect(left, top, Math.max(Math.round(unit), scale.pixel(range.to) - left), height);
  ctx.globalAlpha = 1;
}

// Shades the times that no source covers.
export function paintUncovered(
  surface: Surface,
  scale: Scale,
  covered: [number, number][],
  end: number,
  top: number,
  height: number,
): void {
  if (covered.length === 0) return;
  const { ctx, colours } = surface;
  ctx.fillStyle = hatched(surface, colours.unknown);
  let from = -Infinity;
  for (const [next, until] of [...covered, [Infinity, Infinity]]) {
    const left = scale.pixel(Math.max(from, scale.from));
    const right = scale.pixel(Math.min(next, scale.to));
    if (right > left && from < Math.max(end, scale.to))
      ctx.fillRect(left, top, right - left, height);
    from = Math.max(from, until);
  }
}

function paintEvidence(
  { ctx, colours, height, unit }: Surface,
  scale: Scale,
  marks: PlacedMark[],
  viewer: Viewer,
): void {
  if (marks.length === 0) return;
  const colour = colours.severity[viewer.run.report.findings[marks[0].finding].severity];
  const line = Math.max(1, Math.round(unit));
  let drawn = -Infinity;
  for (const mark of [...marks].sort((a, b) => a.ts_ns - b.ts_ns)) {
    if (mark.end < scale.from || mark.ts_ns > scale.to) continue;
    const left = Math.max(scale.pixel(mark.ts_ns), drawn);
    const right = Math.max(scale.pixel(mark.end), left + line);
    if (right <= drawn) continue;
    ctx.globalAlpha = 0.1;
    ctx.fillStyle = colour;
    ctx.fillRect(left, 0, right - left, height);
    ctx.globalAlpha = 1;
    ctx.fillRect(left, 0, line, height);
    if (right - left > 3 * line) ctx.fillRect(right - line, 0, line, height);
    drawn = right;
  }
}
