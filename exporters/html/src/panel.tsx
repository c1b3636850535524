// The panel below the lanes shows the chosen finding, the selected event or the measured range.
import type { ComponentChildren } from 'preact';
import { useShown, useViewer } from './context.ts';
import { EventPanel } from './event_panel.tsx';
import { FindingPanel } from './finding_panel.tsx';
import { Icon } from './icons.tsx';
import { RangePanel } from './range_panel.tsx';
import { Splitter } from './splitter.tsx';
import type { Panel } from './state.ts';

export function Panels() {
  const viewer = useViewer();
  const finding = useShown((state) => state.finding);
  const event = useShown((state) => state.event);
  const range = useShown((state) => state.range);
  const chosen = useShown((state) => state.panel);
  const there: [Panel, string, ComponentChildren][] = [];
  if (finding !== null)
    there.push(['finding', 'Finding', <FindingPanel key={finding} index={finding} />]);
  if (event !== null) there.push(['event', 'Event', <EventPanel />]);
  if (range !== null) there.push(['range', 'Range', <RangePanel range={range} />]);
  const shown = there.find(([panel]) => panel === chosen);
  if (shown === undefined) return null;
  return (
    <section class="panel" aria-label="Details">
      <Splitter />
      <div class="tabs">
        <div role="tablist" aria-label="Details">
          {there.map(([panel, title]) => (
            <button
              role="tab"
              id={`tab-${panel}`}
              aria-controls="details"
              aria-selected={panel === chosen}
              onClick={() => viewer.store.set({ panel })}
            >
              {title}
            </button>
          ))}
        </div>
        <button
          class="quiet close"
          aria-label="Close"
          title="Close (Escape)"
          onClick={() => viewer.escape()}
        >
          <Icon name="close" />
        </button>
      </div>
      <div
        class="details"
        id="details"
        role="tabpanel"
        aria-labelledby={`tab-${chosen}`}
        tabIndex={0}
        data-arrows
      >
        {shown[2]}
      </div>
    </section>
  );
}
