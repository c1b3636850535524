// Describes one finding: its cost, reason, source line, advice and evidence.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useViewer } from './context.ts';
import { marksOf, placesOf } from './marks.ts';
import { ReasonView } from './reason.tsx';
import type { Finding, Quote } from './run.ts';
import { count, duration, exactTime, plural, printable, prose } from './text.ts';

export function FindingPanel({ index }: { index: number }) {
  const { run } = useViewer();
  const finding = run.report.findings[index];
  const quote = run.quotes[index] ?? null;
  const reason = run.reasons[index] ?? null;
  return (
    <article class="finding-panel">
      <div>
        <h3>
          <bdi>{prose(finding.title)}</bdi>
        </h3>
        <Advice text={finding.advice} />
        {quote && <QuoteView quote={quote} />}
        <dl>
          <Place finding={finding} />
          <Why finding={finding} hasGraphs={reason !== null} />
          <Row name="cost">{priced(finding.cost_ns, finding.cost_note, '')}</Row>
          <Row name="saves">{priced(finding.saving_ns, finding.saving_note, 'about ')}</Row>
          <BecauseOf finding={finding} />
        </dl>
        <Evidence index={index} />
      </div>
      {reason && (
        <div class="sides">
          {finding.reason && <Change of={finding.reason} />}
          <ReasonView reason={reason} told={finding.reason} />
        </div>
      )}
    </article>
  );
}

// Links to the finding that explains this one.
function BecauseOf({ finding: { because_of } }: { finding: Finding }) {
  const viewer = useViewer();
  const { findings } = viewer.run.report;
  const cause = findings.findIndex(({ fingerprint }) => fingerprint === because_of);
  if (because_of === null || cause < 0) return null;
  return (
    <Row name="because">
      <button class="link" onClick={() => viewer.chooseFinding(cause)}>
        <bdi>{prose(findings[cause].title)}</bdi>
      </button>
    </Row>
  );
}

function Row({ name, children }: { name: string; children: ComponentChildren }) {
  if (!children) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function priced(ns: number | null, note: string | null, before: string): string {
  const price = ns === null ? '' : before + duration(ns);
  return [price, prose(note ?? '')].filter(Boolean).join(': ');
}

function Place({ finding: { subject } }: { finding: Finding }) {
  const { file, line, op, scope, graph_hash } = subject;
  const place = file && printable(file) + (line === null ? '' : `:${line}`);
  const rest = [
    subject.function && `in ${printable(subject.function, 200)}`,
    scope && `scope ${printable(scope, 200)}`,
    op && `op ${printable(op, 200)}`,
    graph_hash && `graph ${printable(graph_hash, 64)}`,
  ].filter(Boolean);
  if (!place && rest.length === 0) return null;
  return (
    <Row name="where">
      {place && <code>{place}</code>}
      {place && rest.length > 0 && ', '}
      {rest.join(', ')}
    </Row>
  );
}

function Why({ finding: { reason }, hasGraphs }: { finding: Finding; hasGraphs: boolean }) {
  if (reason === null) return null;
  const words = [reason.type.replace(/_/g, ' '), reason.state?.replace(/_/g, ' ')]
    .filter(Boolean)
    .join(', ');
  return (
    <Row name="why">
      {words}
      {reason.text && `: ${prose(reason.text)}`}
      {!hasGraphs && <Change of={reason} />}
    </Row>
  );
}

// Shows the two values that differ, and the node that has them.
function Change({ of: { node, before, after } }: { of: NonNullable<Finding['reason']> }) {
  if (before === null && after === null) return null;
  return (
    <div class="change">
      {node && <code>{printable(node)}</code>}
      <del>{printable(before ?? '(none)')}</del>
      <ins>{printable(after ?? '(none)')}</ins>
    </div>
  );
}

function QuoteView({ quote }: { quote: Quote }) {
  return (
    <figure class="quote">
      <pre>
        <span>{quote.line}</span>
        <code>{printable(quote.text)}</code>
      </pre>
      {quote.newer_than_capture && (
        <figcaption>
          The file changed after the capture, so this line may not be the one that ran.
        </figcaption>
      )}
    </figure>
  );
}

function Advice({ text }: { text: string | null }) {
  const viewer = useViewer();
  const [copied, setCopied] = useState(false);
  if (!text) return null;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      viewer.say('Advice copied.');
    } catch {
      viewer.say('The browser does not allow this page to copy text. Select the text instead.');
    }
  };
  return (
    <div class="advice">
      <p>
        <b>Fix</b> {prose(text)}
      </p>
      <button onClick={copy}>{copied ? 'Copied' : 'Copy'}</button>
    </div>
  );
}

// Lists the finding's evidence. Each place on the timeline is a button that goes there.
function Evidence({ index }: { index: number }) {
  const viewer = useViewer();
  const marks = placesOf(viewer.marks, index);
  const leftOut = marksOf(viewer.marks, index).length - marks.length;
  const { count: all, evidence } = viewer.run.report.findings[index];
  const untimed = evidence.filter((evidence) => evidence.ts_ns === null && evidence.text);
  if (marks.length === 0 && untimed.length === 0) return null;
  return (
    <details class="evidence" open={marks.length <= 12}>
      <summary>
        {marks.length === 0 ? 'Evidence without timestamps' : placesText(marks.length, all)}
      </summary>
      <ul>
        {marks.map((mark) => (
          <li>
            <button class="link" onClick={() => viewer.goToPlace(mark)}>
              {exactTime(mark.ts_ns)}
            </button>{' '}
            {prose(mark.text, 400)}
          </li>
        ))}
        {leftOut > 0 && <li class="faint">{plural(leftOut, 'much shorter place')} not listed</li>}
        {untimed.map((evidence) => (
          <li>{prose(evidence.text!, 400)}</li>
        ))}
      </ul>
    </details>
  );
}

// Returns how many places are listed, and of how many if the finding counts more occurrences.
function placesText(listed: number, all: number | null): string {
  if (all !== null && all > listed)
    return `${count(listed)} of ${plural(all, 'place')} on the timeline, longest first`;
  return plural(listed, 'place on the timeline', 'places on the timeline, longest first');
}
