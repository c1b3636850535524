// The page shows the findings at the left, and the steps, lanes and details beside them.
import { useEffect } from 'preact/hooks';
import { Capture, Merged } from './capture.tsx';
import { useShown, useViewer } from './context.ts';
import { CursorLine, Tip } from './cursor.tsx';
import { Findings } from './findings.tsx';
import { Header } from './header.tsx';
import { Help } from './help.tsx';
import { press } from './keys.ts';
import { Pane } from './pane.tsx';
import { Panels } from './panel.tsx';
import { Ruler } from './ruler.tsx';
import { printable } from './text.ts';
import { Strip } from './strip.tsx';

export function App() {
  const viewer = useViewer();
  useEffect(() => {
    const listen = (event: KeyboardEvent) => press(viewer, event) && event.preventDefault();
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, [viewer]);
  return (
    <>
      <Header />
      <aside>
        <Merged />
        <Findings />
        <Capture />
      </aside>
      <main>
        <Strip />
        <Timeline />
        <Panels />
      </main>
      <Tip />
      <Help />
      <Said />
    </>
  );
}

function Timeline() {
  const viewer = useViewer();
  useShown((state) => state.concluded);
  useShown((state) => state.pinned);
  useShown((state) => state.folded);
  useShown((state) => state.deep);
  const filter = useShown((state) => state.filter);
  if (viewer.run.lanes.length === 0 && viewer.run.steps.every((step) => step.ts_ns === null))
    return (
      <p class="calm empty">
        No imported file contains timestamps, so there is no timeline. The findings are based on
        counts.
      </p>
    );
  const { pinned, scrolled } = viewer.panes();
  return (
    <section class="timeline" aria-label="Timeline">
      <Ruler />
      {pinned.height > 0 && <Pane name="pinned" bands={pinned} scrolls={false} />}
      <Pane name="scrolled" bands={scrolled} scrolls />
      {filter !== '' && scrolled.bands.length === 0 && (
        <p class="calm none" role="status">
          No lane has a name like “{printable(filter, 80)}”.
        </p>
      )}
      <CursorLine />
    </section>
  );
}

// Shows the latest error, and gives screen readers the latest message.
function Said() {
  const said = useShown((state) => state.said);
  const trouble = useShown((state) => state.trouble);
  return (
    <>
      <p class="hidden" aria-live="polite">
        {said}
      </p>
      {trouble && (
        <p class="trouble" role="alert">
          {trouble}
        </p>
      )}
    </>
  );
}
