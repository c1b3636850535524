// A table of the events in a range, summed by name, which any column can sort.
import { useState } from 'preact/hooks';
import { useShown, useViewer } from './context.ts';
import type { Totals } from './source.ts';
import type { Range } from './state.ts';
import { count, duration, exactTime, plural, printable } from './text.ts';

type Column = Exclude<keyof Totals, 'category'>;

const columns: [Column, string, string][] = [
  ['name', 'name', ''],
  ['count', 'count', 'events that overlap the range'],
  ['total_ns', 'total', 'their time inside the range'],
  ['self_ns', 'self', 'total without the events nested inside'],
  ['mean_ns', 'mean', 'total divided by count'],
  ['p99_ns', 'p99', '99 % of the events take at most this long'],
  ['max_ns', 'max', 'the longest event'],
];

export function RangePanel({ range }: { range: Range }) {
  const totals = useShown((state) => state.totals);
  const [{ by, falling }, sort] = useState<{ by: Column; falling: boolean }>({
    by: 'total_ns',
    falling: true,
  });
  const choose = (column: Column) =>
    sort({ by: column, falling: column === by ? !falling : column !== 'name' });
  const rows = totals === null ? [] : sorted(totals.rows, by, falling);
  const most = rows.reduce((most, row) => Math.max(most, row.total_ns), 1);
  return (
    <article class="range-panel">
      <p>
        <b>{duration(range.to - range.from)}</b> from {exactTime(range.from)} to{' '}
        {exactTime(range.to)},{' '}
        {range.lanes === null ? 'all lanes' : plural(range.lanes.length, 'lane')}
        {totals !== null &&
          totals.left_out > 0 &&
          `; ${plural(totals.left_out, 'name')} with less total time not listed`}
      </p>
      {totals?.merged && (
        <p class="merged">
          About {plural(totals.merged.events, 'event')} shorter than {duration(totals.merged.below)}{' '}
          {totals.merged.events === 1 ? 'is' : 'are'} not in this table, because the page holds{' '}
          {totals.merged.events === 1 ? 'it' : 'them'} merged. A range over the whole run counts all
          events.
        </p>
      )}
      <table class="totals">
        <thead>
          <tr>
            {columns.map(([column, title, meaning]) => (
              <th
                class={column}
                aria-sort={column !== by ? 'none' : falling ? 'descending' : 'ascending'}
                title={meaning}
              >
                <button class="quiet" onClick={() => choose(column)}>
                  {title}
                  <i>{column !== by ? '' : falling ? '↓' : '↑'}</i>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row row={row} part={row.total_ns / most} />
          ))}
        </tbody>
      </table>
      {totals !== null && rows.length === 0 && <p class="calm">No events in this range.</p>}
    </article>
  );
}

function Row({ row, part }: { row: Totals; part: number }) {
  const viewer = useViewer();
  return (
    <tr>
      <td class="name">
        <button
          class="link"
          title="Find events by this name"
          onClick={() => void viewer.search(row.name, 'next')}
        >
          <bdi>{printable(row.name, 300)}</bdi>
        </button>
      </td>
      <td>{count(row.count)}</td>
      <td class="bar">
        <i style={{ width: `${100 * part}%` }} />
        {duration(row.total_ns)}
      </td>
      <td>{duration(row.self_ns)}</td>
      <td>{duration(row.mean_ns)}</td>
      <td>{duration(row.p99_ns)}</td>
      <td>{duration(row.max_ns)}</td>
    </tr>
  );
}

export function sorted(rows: Totals[], by: Column, falling: boolean): Totals[] {
  const sign = falling ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [a[by] ?? -1, b[by] ?? -1];
    if (typeof x === 'number') return sign * (x - (y as number));
    return sign * (x < y ? -1 : x > y ? 1 : 0);
  });
}
