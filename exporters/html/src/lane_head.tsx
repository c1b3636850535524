// The head of a band: its name, and buttons to fold it, pin it or show all its rows.
import { type Band, fullName, kMostRows, nameOf } from './bands.ts';
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
      <li class="head process" style={style} title={titleOf(name, detail)}>
        <Fold band={band} name={name} />
        <Cut text={name} class="process-name" />
        <Cut text={detail} class="detail" />
      </li>
    );
  }
  if (band.type === 'device')
    return (
      <li class="head device" style={style} title={titleOf(band.device)}>
        <Fold band={band} name={band.device} />
        <Cut text={band.device} class="process-name" />
      </li>
    );
  if (band.type === 'idle') {
    const threads = plural(band.threads, 'more thread');
    return (
      <li class="head idle" style={style} title={`${threads} with few events`}>
        <Fold band={band} name={threads} />
        <span class="name">{threads}</span>
      </li>
    );
  }
  const { lane } = band;
  const events = plural(lane.events, lane.kind === 'counter' ? 'sample' : 'event');
  return (
    <li
      class={fullName(lane) === nameOf(lane) ? 'head' : 'head of-device'}
      style={style}
      title={titleOf(fullName(lane), events)}
    >
      <Fold band={band} name={fullName(lane)} />
      <LaneName lane={lane} />
      <Pin lane={lane.id} name={fullName(lane)} />
      <Deep band={band} />
    </li>
  );
}

function titleOf(name: string, more = ''): string {
  return [name, more]
    .filter((part) => part !== '')
    .map((part) => printable(part, 300))
    .join(', ');
}

// A pinned lane has its full name, because it is not below the band of its device.
function LaneName({ lane }: { lane: Lane }) {
  const isPinned = useShown((state) => state.pinned.includes(lane.id));
  return <Cut text={isPinned ? fullName(lane) : nameOf(lane)} class="name" />;
}

const kTail = 10; // characters at the end of a name, which often are an ID
const kWhole = 16; // a shorter name always fits

// Shows a name. If there is no room for all of it, its middle is cut out.
function Cut({ text, class: kind }: { text: string; class: string }) {
  const shown = [...printable(text, 200)];
  const start = shown.length <= kWhole ? shown : shown.slice(0, -kTail);
  return (
    <span class={`cut ${kind}`}>
      <span class="start">{start.join('')}</span>
      {start !== shown && <span>{shown.slice(-kTail).join('')}</span>}
    </span>
  );
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
