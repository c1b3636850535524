// Two graphs side by side; where they differ is marked, and where it began.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type Finding, kBeganHere, kSame, type Reason, type ReasonRow } from './run.ts';
import { plural, printable } from './text.ts';

const kAbove = 60; // CSS pixels of what comes before, when it opens

// `told`: what the finding says of the difference, at which it opens.
export function ReasonView({ reason, told }: { reason: Reason; told: Finding['reason'] }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const row = box.current!.querySelectorAll('tbody tr')[toldRow(reason.rows, told)];
    box.current!.scrollTop = row instanceof HTMLElement ? row.offsetTop - kAbove : 0;
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

// Index of the row that the finding tells, else of the one where it began, else of the first that
// differs; -1: none does.
export function toldRow(rows: ReasonRow[], told: Finding['reason']): number {
  const weight = ([before, after, state]: ReasonRow) => {
    if (state === kSame) return 0;
    const isTold =
      told !== null &&
      holds(before, told.before) &&
      holds(after, told.after) &&
      (told.node === null || holds(before, told.node) || holds(after, told.node));
    return 1 + (state === kBeganHere ? 1 : 0) + (isTold ? 2 : 0);
  };
  const weights = rows.map(weight);
  const most = Math.max(0, ...weights);
  return most === 0 ? -1 : weights.indexOf(most);
}

function holds(line: string | null, said: string | null): boolean {
  return said === null ? line === null : line !== null && line.includes(said);
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
