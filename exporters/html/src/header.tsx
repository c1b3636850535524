// The bar at the top: the run's name and size, the search, and buttons for theme and help.
import { useShown, useViewer } from './context.ts';
import { Icon } from './icons.tsx';
import type { Run } from './run.ts';
import { Search } from './search.tsx';
import type { Theme } from './state.ts';
import { count, duration, plural, printable } from './text.ts';

const nextTheme: Record<Theme, Theme> = { system: 'dark', dark: 'light', light: 'system' };

export function Header() {
  const viewer = useViewer();
  const theme = useShown((state) => state.theme);
  useShown((state) => state.concluded); // the report arrives later than the page
  const { run } = viewer;
  const { summary } = run.report;
  const steps = summary.steps ?? run.steps.length; // all steps, including those without a time
  const events = run.lanes.reduce(
    (sum, lane) => sum + (lane.kind === 'counter' ? 0 : lane.events),
    0,
  );
  const facts = [
    run.span.end_ns > 0 && duration(run.span.end_ns),
    steps > 0 && plural(steps, 'step'),
    events > 0 && plural(events, 'event') + (viewer.source.mergedBelow > 0 ? ', some merged' : ''),
    // Without timestamps there are no events, so other counts are shown.
    events === 0 && summary.compile_count && plural(summary.compile_count, 'compilation'),
    events === 0 && summary.execution_count && plural(summary.execution_count, 'execution'),
  ].filter(Boolean);
  return (
    <header>
      <span class="brand">xlaprof</span>
      <h1>
        <bdi>{printable(run.label || 'run', 200)}</bdi>
      </h1>
      <span class="facts" title={recordedAt(run.span)}>
        {facts.join(' · ')}
      </span>
      <OtherRuns labels={run.other_runs} />
      <Search />
      <button
        class="quiet"
        aria-label={`Theme: ${theme}`}
        title={`Theme: ${theme}`}
        onClick={() => viewer.setTheme(nextTheme[theme])}
      >
        <Icon name="theme" />
      </button>
      <button
        class="quiet"
        aria-label="Help"
        title="Help (?)"
        onClick={() => viewer.store.set({ help: true })}
      >
        <Icon name="help" />
      </button>
    </header>
  );
}

const kMostListed = 40;

function OtherRuns({ labels }: { labels: string[] }) {
  if (labels.length === 0) return null;
  const listed = labels.slice(0, kMostListed).map((label) => printable(label, 200));
  if (labels.length > kMostListed) listed.push(`… ${count(labels.length - kMostListed)} more`);
  return (
    <span class="facts" title={['Other runs (select one with --run LABEL)', ...listed].join(' · ')}>
      one of {count(labels.length + 1)} runs (--run LABEL)
    </span>
  );
}

// Returns the date and time at which the view begins; "" if no source knows it.
function recordedAt({ base_epoch_ns, origin_ns }: Run['span']): string {
  if (base_epoch_ns === null) return '';
  const date = new Date(Number((BigInt(base_epoch_ns) + BigInt(origin_ns)) / 1_000_000n));
  return Number.isNaN(date.getTime()) ? '' : `The view begins at ${date.toISOString()}`;
}
