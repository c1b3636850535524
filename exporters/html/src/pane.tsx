// A pane of lanes, one below the other: their heads, and a canvas that shows their contents.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Scale } from './axis.ts';
import { type Band, type Bands, between } from './bands.ts';
import { Canvas } from './canvas.tsx';
import { useShown, useViewer } from './context.ts';
import { useHands } from './hands.ts';
import { LaneHead } from './lane_head.tsx';
import { PanePainter } from './paint_pane.ts';
import { pick, pickedLines, type Picked } from './pick.ts';

const kOverscan = 300; // CSS pixels above and below the visible part that have heads, too

export function Pane({
  name,
  bands: { bands, height },
  scrolls,
}: {
  name: string;
  bands: Bands;
  scrolls: boolean;
}) {
  const viewer = useViewer();
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const painter = useMemo(() => new PanePainter(viewer, name), [viewer]);
  const scroll = useShown((state) => (scrolls ? state.scroll * viewer.sizes.row : 0));

  useEffect(() => {
    if (!scrolls) return;
    const size = new ResizeObserver(() => viewer.setPaneHeight(box.current!.clientHeight));
    size.observe(box.current!);
    return () => size.disconnect();
  }, []);
  useEffect(() => {
    if (Math.abs(box.current!.scrollTop - scroll) >= 1) box.current!.scrollTop = scroll;
  }, [scroll, height]);

  const at = (x: number, y: number): Picked | null => {
    const { clientWidth } = canvas.current!;
    const scale = new Scale(viewer.window.from, viewer.window.to, clientWidth);
    return pick(viewer, bands, scale, x, y + scroll);
  };
  useHands(canvas, {
    wheel: 'scrolls',
    lanesBetween: (y0, y1) => lanesOf(between(bands, y0 + scroll, y1 + scroll)),
    click: (x, y) => at(x, y)?.choose(),
    doubleClick: (x, y) => at(x, y) && viewer.fit(),
    linesAt: (x, y) => pickedLines(at(x, y)),
  });
  return (
    <div class={`pane ${name}`}>
      <div
        class="heads"
        ref={box}
        onScroll={() =>
          scrolls &&
          Math.abs(box.current!.scrollTop - scroll) >= 1 &&
          viewer.scrollTo(box.current!.scrollTop)
        }
      >
        <ul style={{ height: `${height}px` }}>
          {(scrolls
            ? between(bands, scroll - kOverscan, scroll + viewer.paneHeight + kOverscan)
            : bands
          ).map((band) => (
            <LaneHead key={band.key} band={band} />
          ))}
        </ul>
      </div>
      <Canvas of={canvas} paint={(surface) => painter.paint(surface, bands, scroll)} />
    </div>
  );
}

function lanesOf(bands: Band[]): number[] {
  return bands.flatMap((band) =>
    band.type === 'lane' && band.lane.kind !== 'counter' ? [band.lane.id] : [],
  );
}
