// run.json and findings.json, as docs/formats/view.md describes them. Times are ns since the view's
// origin, except in `report`, which has the store's times. Unknown values are null.

export type Severity = 'info' | 'warning' | 'error';

export interface Evidence {
  table: string | null;
  rows: number[];
  ts_ns: number | null;
  dur_ns: number | null;
  text: string | null;
}

export interface Finding {
  kind: string;
  severity: Severity;
  title: string;
  subject: {
    file: string | null;
    line: number | null;
    function: string | null;
    scope: string | null;
    op: string | null;
    graph_hash: string | null;
  };
  count: number | null;
  per_step: number | null;
  cost_ns: number | null;
  cost_note: string | null;
  saving_ns: number | null;
  saving_note: string | null;
  reason: {
    type: string;
    state: string | null;
    step: number | null;
    node: string | null;
    before: string | null;
    after: string | null;
    location: string | null;
    text: string | null;
  } | null;
  advice: string | null;
  evidence: Evidence[];
  fingerprint: string;
  because_of: string | null; // fingerprint of the finding that explains this one
  total_cost_ns: number | null; // with what follows from it
}

export interface Coverage {
  path: string;
  format: string;
  steps: number | null;
  compiles: number | null;
  executions: number | null;
  transfers: number | null;
  events: number | null;
  note: string | null;
}

export interface Issue {
  path: string;
  code: string;
  severity: Severity;
  count: number;
  offset: number | null;
  line: number | null;
  advice: string;
}

export interface Summary {
  steps: number | null; // all steps that any source saw
  compile_count: number | null;
  execution_count: number | null;
  coverage: Coverage[];
}

export interface Report {
  summary: Summary;
  findings: Finding[];
  issues: Issue[];
}

// A finding with what follows from it, by their indexes in the report.
export interface Explained {
  index: number;
  consequences: Explained[];
}

// Returns the findings that no other explains, in the order of display: first those that need
// fixing, most expensive first, then those that were also seen.
export function ranked(findings: Finding[]): { toFix: Explained[]; seen: Explained[] } {
  const known = new Set(findings.map(({ fingerprint }) => fingerprint));
  const below = (cause: string | null): Explained[] =>
    findings.flatMap(({ because_of, fingerprint }, index) => {
      const explained = because_of !== null && known.has(because_of) ? because_of : null;
      return explained === cause ? [{ index, consequences: below(fingerprint) }] : [];
    });
  const roots = below(null);
  const isInfo = ({ index }: Explained) => findings[index].severity === 'info';
  return { toFix: roots.filter((root) => !isInfo(root)), seen: roots.filter(isInfo) };
}

// Returns the indexes of findings and of what follows from them, each cause before its consequences.
export function indexesOf(findings: Explained[]): number[] {
  return findings.flatMap(({ index, consequences }) => [index, ...indexesOf(consequences)]);
}

export type LaneKind = 'host_thread' | 'device' | 'device_stream' | 'async' | 'counter';

export interface Lane {
  id: number;
  process: number;
  kind: LaneKind;
  name: string;
  device: string | null;
  rows: number;
  events: number;
}

export interface Process {
  id: number;
  name: string;
  detail: string;
}

export interface Step {
  process: number;
  number: number | null;
  ts_ns: number | null;
  dur_ns: number | null;
  warm_up: boolean;
}

export interface DeviceIdle {
  process: number;
  name: string;
  idle_ns: (number | null)[]; // one per step
  steady_ns: number; // the time after warm-up, between steps too; 0: not known
  steady_idle_ns: number; // the idle part of it
}

// The time that a finding's occurrences take in each part of the run. Findings have it that have
// more occurrences than marks.
export interface Density {
  finding: number;
  begins_ns: number[]; // of the parts; each ends where the next begins
  end_ns: number; // of the last part
  ns: number[]; // one per part
}

export interface Mark {
  finding: number;
  ts_ns: number;
  dur_ns: number | null;
  lane: number | null; // id of a lane
  text: string;
}

export const kSame = 0;
export const kBeganHere = 2;

// A row holds before, after, state (1: differs) and location. A row for omitted nodes is
// [null, null, 0, number of nodes].
export type ReasonRow = [string | null, string | null, number, string | number | null];

export interface Reason {
  before: string;
  after: string;
  rows: ReasonRow[];
  omitted: number;
}

export interface Quote {
  file: string;
  line: number;
  text: string;
  newer_than_capture: boolean;
}

// run.json lists what can be shown.
export interface Outline {
  xlaprof: string;
  label: string;
  other_runs: string[]; // other runs in the same files, which are not shown
  span: { origin_ns: string; base_epoch_ns: string | null; end_ns: number };
  damaged_chunks: number; // chunks of events, which are not shown
  categories: string[];
  processes: Process[];
  lanes: Lane[];
  steps: Step[];
}

// run.json as it arrives: the steps are one column per property.
export type OutlineJson = Omit<Outline, 'steps'> & {
  steps: { [Column in keyof Step]: Step[Column][] };
};

export function outlineOf(json: OutlineJson): Outline {
  const { process, number, ts_ns, dur_ns, warm_up } = json.steps;
  const steps = process.map((_, i) => ({
    process: process[i],
    number: number[i],
    ts_ns: ts_ns[i],
    dur_ns: dur_ns[i],
    warm_up: warm_up[i],
  }));
  return { ...json, steps };
}

// findings.json holds the analysis. The server reads the whole run to make it.
export interface Conclusions {
  report: Report;
  covered: [number, number][];
  step_parts: string[];
  step_parts_ns: number[][]; // per step, one number per part
  devices: DeviceIdle[];
  marks: Mark[];
  densities: Density[];
  reasons: (Reason | null)[];
  quotes: (Quote | null)[];
}

export type Run = Outline & Conclusions;

// Returns whether the input has nothing that could be analysed.
export function isEmpty({ lanes, steps, report: { summary, findings } }: Run): boolean {
  return (
    findings.length === 0 &&
    lanes.length === 0 &&
    steps.length === 0 &&
    summary.coverage.every(
      ({ steps, compiles, executions, transfers, events }) =>
        !(steps || compiles || executions || transfers || events),
    )
  );
}

// The conclusions before findings.json arrives.
export const kNoConclusions: Conclusions = {
  report: {
    summary: { steps: null, compile_count: null, execution_count: null, coverage: [] },
    findings: [],
    issues: [],
  },
  covered: [],
  step_parts: [],
  step_parts_ns: [],
  devices: [],
  marks: [],
  densities: [],
  reasons: [],
  quotes: [],
};
