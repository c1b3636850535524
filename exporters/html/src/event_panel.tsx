// Describes one event: its start, duration, arguments and flows, and the totals of its name.
import { useShown, useViewer } from './context.ts';
import type { EventDetail, Totals } from './source.ts';
import { count, duration, exactTime, mergedText, percent, plural, printable } from './text.ts';

export function EventPanel() {
  const viewer = useViewer();
  const event = useShown((state) => state.detail);
  if (event === null) return <p class="calm">…</p>;
  return (
    <article class="event-panel">
      <div>
        {event.merged && <h3>{mergedText(event.merged)}</h3>}
        <h3>
          {event.merged && 'the longest: '}
          <bdi>{printable(event.name)}</bdi>
        </h3>
        <dl>
          <dt>duration</dt>
          <dd>{durationOf(event)}</dd>
          <dt>start</dt>
          <dd>{exactTime(event.ts_ns)}</dd>
          <dt>lane</dt>
          <dd>
            {printable(viewer.laneName(event.lane), 300)}
            {event.row > 0 && `, row ${event.row + 1}`}
          </dd>
          {event.category && (
            <>
              <dt>category</dt>
              <dd>{printable(event.category, 100)}</dd>
            </>
          )}
          <dt>event ID</dt>
          <dd>{event.id}</dd>
        </dl>
      </div>
      {event.totals && <TotalsOf totals={event.totals} dur={event.merged ? null : event.dur_ns} />}
      <Arguments event={event} />
      <Flows event={event} />
    </article>
  );
}

function durationOf({ dur_ns, merged }: EventDetail): string {
  if (dur_ns === null) return 'never ended';
  return merged ? `not known; together ${exactTime(dur_ns)}` : exactTime(dur_ns);
}

function TotalsOf({ totals, dur }: { totals: Totals; dur: number | null }) {
  return (
    <div>
      <h4>All events of this name on this lane</h4>
      <dl>
        <dt>count</dt>
        <dd>{count(totals.count)}</dd>
        <dt>total</dt>
        <dd>{duration(totals.total_ns)}</dd>
        <dt>self</dt>
        <dd>
          {duration(totals.self_ns)}
          {totals.self_ns !== null &&
            totals.total_ns > 0 &&
            `, ${percent(totals.self_ns / totals.total_ns)}`}
        </dd>
        <dt>mean</dt>
        <dd>
          {duration(totals.mean_ns)}
          {dur !== null &&
            totals.count > 1 &&
            totals.mean_ns > 0 &&
            `; this event: ${percent(dur / totals.mean_ns)} of the mean`}
        </dd>
        <dt>p99</dt>
        <dd>{duration(totals.p99_ns)}</dd>
        <dt>max</dt>
        <dd>{duration(totals.max_ns)}</dd>
      </dl>
    </div>
  );
}

function Arguments({ event }: { event: EventDetail }) {
  if (event.arguments.length === 0) return null;
  return (
    <div class="wide">
      <h4>{plural(event.arguments.length, 'argument')}</h4>
      <dl>
        {event.arguments.map(([key, value, type]) => (
          <>
            <dt title={type}>{printable(key, 200)}</dt>
            <dd>
              <bdi>{printable(value)}</bdi>
            </dd>
          </>
        ))}
      </dl>
    </div>
  );
}

function Flows({ event }: { event: EventDetail }) {
  const viewer = useViewer();
  if (event.flows.length === 0) return null;
  return (
    <div>
      <h4>{plural(event.flows.length, 'flow')}</h4>
      <ul>
        {event.flows.map(({ direction, event: other }) => (
          <li>
            {direction === 'in' ? 'from ' : 'to '}
            <button class="link" onClick={() => viewer.goTo(other)}>
              <bdi>{printable(other.name, 200)}</bdi>
            </button>
            <span class="faint"> {printable(viewer.laneName(other.lane), 100)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
