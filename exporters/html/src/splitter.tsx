// The upper edge of the panel. The pointer drags it, and the arrow keys move it.
import { useRef, useState } from 'preact/hooks';

const kLeast = 0.15; // fractions of the page's height
const kMost = 0.85;

export function Splitter() {
  const [part, setPart] = useState(() => shown());
  const isDragged = useRef(false);
  const set = (wanted: number) => {
    const next = Math.min(kMost, Math.max(kLeast, wanted));
    document.documentElement.style.setProperty('--panel', `${100 * next}vh`);
    setPart(next);
  };
  return (
    <div
      class="splitter"
      role="separator"
      aria-orientation="horizontal"
      aria-label="Height of the details panel"
      aria-valuemin={100 * kLeast}
      aria-valuemax={100 * kMost}
      aria-valuenow={Math.round(100 * part)}
      tabIndex={0}
      data-arrows
      onKeyDown={(event) => {
        if (event.key === 'ArrowUp') set(part + 0.05);
        else if (event.key === 'ArrowDown') set(part - 0.05);
      }}
      onPointerDown={(event) => {
        isDragged.current = true;
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => isDragged.current && set(1 - event.clientY / window.innerHeight)}
      onPointerUp={() => (isDragged.current = false)}
    />
  );
}

function shown(): number {
  return parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--panel')) / 100;
}
