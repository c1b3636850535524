// Outlines the selected slice, and draws its flows as arrows.
import type { Scale } from './axis.ts';
import { type Band, deviceKey } from './bands.ts';
import type { EventDetail, EventPlace } from './source.ts';
import type { Surface } from './surface.ts';
import type { Viewer } from './viewer.ts';

export function paintFlows(
  surface: Surface,
  scale: Scale,
  viewer: Viewer,
  event: EventDetail,
  bands: Band[],
  y: (top: number) => number,
): void {
  const { ctx, colours, unit } = surface;
  const place = (of: EventPlace) => boxOf(surface, scale, viewer, of, bands, y);
  const box = place(event);
  if (box !== null) {
    ctx.strokeStyle = colours.text;
    ctx.lineWidth = Math.max(2, Math.round(2 * unit));
    ctx.strokeRect(box.left, box.top, Math.max(box.right - box.left, 2 * unit), box.height);
  }
  for (const flow of event.flows) {
    const other = place(flow.event);
    if (box === null || other === null) continue;
    if (flow.direction === 'in') arrow(surface, other, box);
    else arrow(surface, box, other);
  }
}

interface Box {
  left: number;
  right: number;
  top: number;
  height: number;
}

// Returns where an event is drawn. If a folded band hides its lane, that is the band; if the lane
// is in the other pane, it is beyond the edge of this pane.
function boxOf(
  surface: Surface,
  scale: Scale,
  viewer: Viewer,
  event: EventPlace,
  bands: Band[],
  y: (top: number) => number,
): Box | null {
  const { unit } = surface;
  const left = scale.pixel(event.ts_ns);
  const right = scale.pixel(event.ts_ns + (event.dur_ns ?? viewer.run.span.end_ns - event.ts_ns));
  const band = bands.find((band) => band.type === 'lane' && band.lane.id === event.lane);
  if (band?.type === 'lane') {
    const height = band.rowHeight * unit;
    const row = Math.min(event.row, Math.floor(band.height / band.rowHeight) - 1);
    return {
      left,
      right,
      top: y(band.top) + Math.round((viewer.sizes.gap * unit) / 2) + row * height,
      height: height - unit,
    };
  }
  const lane = viewer.run.lanes.find((lane) => lane.id === event.lane);
  const hiding = lane && [`p${lane.process}`, deviceKey(viewer.run, lane)];
  const folded = bands.find((band) => band.folded && hiding?.includes(band.key));
  if (folded !== undefined)
    return { left, right, top: y(folded.top), height: folded.height * unit };
  const isAbove = viewer.store.state.pinned.includes(event.lane);
  return { left, right, top: isAbove ? -20 * unit : surface.height + 20 * unit, height: 0 };
}

// Draws an arrow from one slice to the start of the other. If the other starts before the first one
// ends, the arrow leaves the first slice at that time.
function arrow({ ctx, colours, unit, width }: Surface, from: Box, to: Box): void {
  const leaves = Math.min(Math.max(to.left, from.left), from.right);
  const [x0, y0] = [Math.min(Math.max(leaves, -9), width + 9), from.top + from.height / 2];
  const [x1, y1] = [to.left, to.top + to.height / 2];
  const bend = Math.min(Math.max(30 * unit, Math.abs(x1 - x0) / 2), 120 * unit);
  const size = 5 * unit;
  ctx.strokeStyle = ctx.fillStyle = colours.accent;
  ctx.lineWidth = 1.5 * unit;
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - size, y1);
  ctx.stroke();
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x1 - 2 * size, y1 - size);
  ctx.lineTo(x1 - 2 * size, y1 + size);
  ctx.fill();
}
