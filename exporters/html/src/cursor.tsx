// Draws the line through all lanes at the pointer, and a tooltip about the thing under the pointer.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useViewer } from './context.ts';
import { useStore } from './store.ts';

const kAway = 14; // CSS pixels between the pointer and the text

// The line is positioned relative to its parent, the box of the timeline.
export function CursorLine() {
  const viewer = useViewer();
  const line = useRef<HTMLElement>(null);
  const { x, time } = useStore(viewer.hover, (hover) => hover);
  useLayoutEffect(() => {
    if (line.current === null) return;
    const { left } = line.current.parentElement!.getBoundingClientRect();
    line.current.style.transform = `translateX(${x - left}px)`;
  });
  return time === null ? null : <i class="cursor" aria-hidden="true" ref={line} />;
}

export function Tip() {
  const viewer = useViewer();
  const { x, y, lines } = useStore(viewer.hover, (hover) => hover);
  const tip = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (tip.current === null) return;
    const { offsetWidth, offsetHeight } = tip.current;
    const left = x + kAway + offsetWidth > window.innerWidth ? x - kAway - offsetWidth : x + kAway;
    const top =
      y + kAway + offsetHeight > window.innerHeight ? y - kAway - offsetHeight : y + kAway;
    tip.current.style.transform = `translate(${Math.max(0, left)}px, ${Math.max(0, top)}px)`;
  });
  if (lines.length === 0) return null;
  return (
    <div class="tip" aria-hidden="true" ref={tip}>
      {lines.map((line) => (
        <p>{line}</p>
      ))}
    </div>
  );
}
