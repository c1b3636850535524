// Two graphs side by side; where they differ is marked, and where it began.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { kBeganHere, kSame, type Reason, type ReasonRow } from './run.ts';
import { plural, printable } from './text.ts';

const kAbove = 60; // CSS pixels of what comes before, when it opens

export function ReasonView({ reason }: { reason: Reason }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const row = box.current!.querySelector<HTMLElement>('.began, .differs');
    box.current!.scrollTop = row === null ? 0 : row.offsetTop - kAbove;
  }, [reason]);
  return (
    <div
      class="reason"
      ref={box}
      tabIndex={0}
      data-arrows
      aria-label="The two graphs"
      role="region"
    >
      <table>
        <thead>
          <tr>
            <th class="sign">
              <span class="hidden">differs</span>
            </th>
            <th>{printable(reason.before, 200)}</th>
            <th>{printable(reason.after, 200)}</th>
            <th>recorded at</th>
          </tr>
        </thead>
        <tbody>
          {reason.rows.map((row) =>
            isOmission(row) ? <Omission nodes={row[3] as number} /> : <Node row={row} />,
          )}
        </tbody>
      </table>
      {reason.omitted > 0 && (
        <p class="calm">{plural(reason.omitted, 'node')} that are the same are left out.</p>
      )}
    </div>
  );
}

function isOmission([before, after]: ReasonRow): boolean {
  return before === null && after === null;
}

function Omission({ nodes }: { nodes: number }) {
  return (
    <tr class="omission">
      <td />
      <td colSpan={3}>{plural(nodes, 'node')}, the same</td>
    </tr>
  );
}

function Node({ row: [before, after, state, location] }: { row: ReasonRow }) {
  const isSame = state === kSame;
  const began = state === kBeganHere;
  return (
    <tr class={isSame ? 'same' : began ? 'began' : 'differs'}>
      <td class="sign" title={began ? 'here it began' : isSame ? '' : 'differs'}>
        {began ? '◆' : isSame ? '' : '≠'}
        <span class="hidden">{began ? 'here it began' : isSame ? '' : 'differs'}</span>
      </td>
      <td>{before !== null && <code>{printable(before)}</code>}</td>
      <td>{after !== null && <code>{printable(after)}</code>}</td>
      <td>
        {typeof location === 'string' && (
          <code title={printable(location, 300)}>{printable(withoutFolder(location), 200)}</code>
        )}
      </td>
    </tr>
  );
}

// function@/some/folder/file.py:7 is function@file.py:7.
function withoutFolder(location: string): string {
  return location.replace(/[^\s@]*\//, '');
}
