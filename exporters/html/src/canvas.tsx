// A canvas that calls `paint` in every frame in which something changed.
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useShared } from './context.ts';
import { type Surface, surfaceOf } from './surface.ts';

export function Canvas({
  of,
  paint,
}: {
  of: RefObject<HTMLCanvasElement | null>;
  paint: (surface: Surface) => void;
}) {
  const { frames } = useShared();
  const latest = useRef(paint);
  latest.current = paint;
  useEffect(() => {
    const canvas = of.current!;
    let surface: Surface | null = null;
    const size = new ResizeObserver(() => frames.request());
    size.observe(canvas);
    const remove = frames.add(() => {
      surface = surfaceOf(canvas, frames.colours, surface);
      latest.current(surface);
    });
    return () => {
      size.disconnect();
      remove();
    };
  }, [frames]);
  return <canvas ref={of} aria-hidden="true" />;
}
