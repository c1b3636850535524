// Lists the findings, most expensive first, each with what follows from it below. Findings that need
// no fix come last, as in the report.
import { useShown, useViewer } from './context.ts';
import { type Explained, type Finding, isEmpty, ranked } from './run.ts';
import { count, duration, fileName, plural, printable, prose } from './text.ts';

export function Findings() {
  const isConcluded = useShown((state) => state.concluded);
  const { run } = useViewer();
  const { findings } = run.report;
  const { toFix, seen } = ranked(findings);
  const hasOrder = toFix.length > 1 && toFix.some(({ index }) => costOf(findings[index]) !== null);
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
      <List of={toFix} />
      {seen.length > 0 && (
        <>
          <h2>Also seen</h2>
          <List of={seen} />
        </>
      )}
    </section>
  );
}

// Returns the time that a finding takes, with what follows from it.
function costOf({ cost_ns, total_cost_ns }: Finding): number | null {
  return total_cost_ns ?? cost_ns;
}

function List({ of }: { of: Explained[] }) {
  return (
    <ol class="findings">
      {of.map((explained) => (
        <Item key={explained.index} of={explained} />
      ))}
    </ol>
  );
}

function Item({ of: { index, consequences } }: { of: Explained }) {
  const viewer = useViewer();
  const finding = viewer.run.report.findings[index];
  const cost = costOf(finding);
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
        <span class="cost">{cost === null ? '' : duration(cost)}</span>
        <span class="title">
          <bdi>{prose(finding.title, 400)}</bdi>
        </span>
        <Place finding={finding} />
        <span class="count">{finding.count === null ? '' : `${count(finding.count)} ×`}</span>
      </button>
      {consequences.length > 0 && <List of={consequences} />}
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
