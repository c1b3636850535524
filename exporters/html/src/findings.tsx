// Lists the findings, most expensive first. Findings that need no fix come last, as in the report.
import { useShown, useViewer } from './context.ts';
import { type Finding, isEmpty, ranked } from './run.ts';
import { count, duration, fileName, plural, printable, prose } from './text.ts';

export function Findings() {
  const isConcluded = useShown((state) => state.concluded);
  const { run } = useViewer();
  const { findings } = run.report;
  const { toFix, seen } = ranked(findings);
  const hasOrder = toFix.length > 1 && toFix.some((index) => findings[index].cost_ns !== null);
  const items = (indexes: number[]) =>
    indexes.map((index) => <Item key={index} index={index} finding={findings[index]} />);
  if (!isConcluded)
    return (
      <section aria-label="Findings" aria-busy>
        <h2>Findings</h2>
        <p class="calm">Analysing the run …</p>
      </section>
    );
  return (
    <section aria-label="Findings">
      <h2>
        {toFix.length === 0
          ? 'Findings'
          : plural(toFix.length, 'finding') + (hasOrder ? ', most expensive first' : '')}
      </h2>
      {toFix.length === 0 && (
        <p class="calm">
          {isEmpty(run)
            ? 'Nothing was recorded: the input contains no step, compilation or event.'
            : 'Nothing found that needs fixing: no check gave a warning.'}
        </p>
      )}
      <ol class="findings">{items(toFix)}</ol>
      {seen.length > 0 && (
        <>
          <h2>Also seen</h2>
          <ol class="findings">{items(seen)}</ol>
        </>
      )}
    </section>
  );
}

function Item({ finding, index }: { finding: Finding; index: number }) {
  const viewer = useViewer();
  const isChosen = useShown((state) => state.finding === index);
  return (
    <li>
      <button
        class={`finding ${finding.severity}`}
        aria-current={isChosen}
        onClick={() => viewer.chooseFinding(index)}
      >
        <span class="kind">
          <b>{finding.severity}</b> {finding.kind.replace(/_/g, ' ')}
        </span>
        <span class="cost">{finding.cost_ns === null ? '' : duration(finding.cost_ns)}</span>
        <span class="title">
          <bdi>{prose(finding.title, 400)}</bdi>
        </span>
        <Place finding={finding} />
        <span class="count">{finding.count === null ? '' : `${count(finding.count)} ×`}</span>
      </button>
    </li>
  );
}

// If the text does not fit, the name is truncated, never the line number.
function Place({ finding: { subject } }: { finding: Finding }) {
  const { file, line, op, scope } = subject;
  const name = file === null ? (op ?? scope ?? '') : fileName(file);
  return (
    <span class="place">
      <span class="name">{printable(name, 120)}</span>
      {file !== null && line !== null && <span>:{line}</span>}
    </span>
  );
}
