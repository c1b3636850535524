// Shows two graphs side by side, and marks the rows that differ and the row where the difference
// begins.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type Finding, kBeganHere, kSame, type Reason, type ReasonRow } from './run.ts';
import { plural, printable } from './text.ts';

const kAbove = 60; // CSS pixels above the row at which the view opens

// `told` is the finding's reason. The view opens at the row that shows it.
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
      aria-label="Comparison of the two graphs"
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
      {reason.omitted > 0 && <p class="calm">Not shown: {plural(reason.omitted, 'more row')}.</p>}
    </div>
  );
}

// Returns the index of the row that shows the finding's reason, or else of the row where the
// difference begins, or else of the first row that differs. Returns -1 if no row differs.
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
      <td colSpan={3}>{plural(nodes, 'identical node')}</td>
    </tr>
  );
}

function Node({ row: [before, after, state, location] }: { row: ReasonRow }) {
  const isSame = state === kSame;
  const began = state === kBeganHere;
  return (
    <tr class={isSame ? 'same' : began ? 'began' : 'differs'}>
      <td class="sign" title={began ? 'the difference begins here' : isSame ? '' : 'differs'}>
        {began ? '◆' : isSame ? '' : '≠'}
        <span class="hidden">{began ? 'the difference begins here' : isSame ? '' : 'differs'}</span>
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

// Shortens function@/some/folder/file.py:7 to function@file.py:7.
function withoutFolder(location: string): string {
  return location.replace(/[^\s@]*\//, '');
}
