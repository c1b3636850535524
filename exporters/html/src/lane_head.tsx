// The head of a band: its name, and buttons to fold it, pin it or show all its rows.
import { type Band, fullName, kMostRows } from './bands.ts';
import { useShown, useViewer } from './context.ts';
import { Icon } from './icons.tsx';
import type { Lane } from './run.ts';
import { plural, printable } from './text.ts';

export function LaneHead({ band }: { band: Band }) {
  const style = { top: `${band.top}px`, height: `${band.height}px` };
  if (band.type === 'marks')
    return (
      <li class="head plain" style={style}>
        Findings
      </li>
    );
  if (band.type === 'steps')
    return (
      <li class="head plain" style={style}>
        Steps
      </li>
    );
  if (band.type === 'process') {
    const { name, detail } = band.process;
    return (
      <li class="head process" style={style} title={printable(`${name}\n${detail}`, 300)}>
        <Fold band={band} name={name} />
        <b>{printable(name, 200)}</b> <span>{printable(detail, 200)}</span>
      </li>
    );
  }
  if (band.type === 'device')
    return (
      <li class="head device" style={style} title={printable(band.device, 300)}>
        <Fold band={band} name={band.device} />
        <b>{printable(band.device, 200)}</b>
      </li>
    );
  const { lane } = band;
  return (
    <li
      class={fullName(lane) === lane.name ? 'head' : 'head of-device'}
      style={style}
      title={`${printable(fullName(lane), 300)}\n${plural(lane.events, lane.kind === 'counter' ? 'sample' : 'event')}`}
    >
      <Fold band={band} name={fullName(lane)} />
      <LaneName lane={lane} />
      <Pin lane={lane.id} name={fullName(lane)} />
      <Deep band={band} />
    </li>
  );
}

// A pinned lane has its full name, because it is not below the band of its device.
function LaneName({ lane }: { lane: Lane }) {
  const isPinned = useShown((state) => state.pinned.includes(lane.id));
  return <span class="name">{printable(isPinned ? fullName(lane) : lane.name, 200)}</span>;
}

// A button that shows the hidden rows of a deep lane, or hides them again.
function Deep({ band: { lane, hiddenRows, folded } }: { band: Band & { type: 'lane' } }) {
  const viewer = useViewer();
  if (folded || lane.rows <= kMostRows) return null;
  return (
    <button class="link deep" onClick={() => viewer.toggleDeep(lane.id)}>
      {hiddenRows > 0 ? plural(hiddenRows, 'more row') : 'fewer rows'}
    </button>
  );
}

function Fold({ band, name }: { band: Band; name: string }) {
  const viewer = useViewer();
  return (
    <button
      class="quiet"
      aria-expanded={!band.folded}
      aria-label={`Rows of ${printable(name, 80)}`}
      onClick={() => viewer.toggleFolded(band.key)}
    >
      <Icon name={band.folded ? 'right' : 'down'} />
    </button>
  );
}

function Pin({ lane, name }: { lane: number; name: string }) {
  const viewer = useViewer();
  const isPinned = useShown((state) => state.pinned.includes(lane));
  return (
    <button
      class="quiet pin"
      aria-pressed={isPinned}
      aria-label={`Pin ${printable(name, 80)} to the top`}
      title="Pin to the top"
      onClick={() => viewer.togglePinned(lane)}
    >
      <Icon name="pin" />
    </button>
  );
}
