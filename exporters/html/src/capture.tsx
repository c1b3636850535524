// Lists the imported files and the issues found in them.
import { useShown, useViewer } from './context.ts';
import type { Coverage, Issue } from './run.ts';
import { count, duration, fileName, plural, printable } from './text.ts';

// Says that the page merges short events, which only a page on disk does.
export function Merged() {
  const { mergedBelow } = useViewer().source;
  if (mergedBelow === 0) return null;
  return (
    <p class="merged" role="note">
      <b>Short events are merged.</b> A page cannot hold all events of this run: those shorter than{' '}
      {duration(mergedBelow)} share slices, and arguments and flows are left out. Totals of a name
      on its lane are exact. <code>xlaprof view</code> shows all events, and <code>--steps</code>{' '}
      writes a page of some steps.
    </p>
  );
}

export function Capture() {
  useShown((state) => state.concluded);
  const { report, damaged_chunks } = useViewer().run;
  return (
    <section class="capture" aria-label="Imported files">
      {damaged_chunks > 0 && (
        <p class="error">
          {plural(damaged_chunks, 'chunk')} of events in the store{' '}
          {damaged_chunks > 1 ? 'are' : 'is'} damaged and not shown. Import the files again.
        </p>
      )}
      {report.issues.length > 0 && (
        <details>
          <summary>{plural(report.issues.length, 'issue')} in the input</summary>
          <ul>
            {report.issues.map((issue) => (
              <IssueItem issue={issue} />
            ))}
          </ul>
        </details>
      )}
      {report.summary.coverage.length > 0 && (
        <details>
          <summary>{plural(report.summary.coverage.length, 'file')} read</summary>
          <ul>
            {report.summary.coverage.map((coverage) => (
              <CoverageItem coverage={coverage} />
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function IssueItem({ issue }: { issue: Issue }) {
  const where =
    issue.line !== null
      ? `line ${count(issue.line)}`
      : issue.offset !== null
        ? `byte ${count(issue.offset)}`
        : '';
  return (
    <li class={issue.severity}>
      <b>{issue.code.replace(/_/g, ' ')}</b> {count(issue.count)} ×,{' '}
      {printable(fileName(issue.path), 200)}
      {where && `, ${where}`}
      <p>{printable(issue.advice, 600)}</p>
    </li>
  );
}

function CoverageItem({ coverage }: { coverage: Coverage }) {
  const facts = (['steps', 'compiles', 'executions', 'transfers', 'events'] as const)
    .filter((what) => coverage[what] !== null)
    .map((what) => `${count(coverage[what]!)} ${what}`);
  return (
    <li>
      <b title={printable(coverage.path, 400)}>{printable(fileName(coverage.path), 200)}</b>{' '}
      {coverage.format}
      <p>{facts.join(', ') || 'no data'}</p>
      {coverage.note && <p>{printable(coverage.note, 400)}</p>}
    </li>
  );
}
