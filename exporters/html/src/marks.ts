// Arranges findings' marks. Marks that overlap are placed in different rows, the most expensive on
// top.
import { type Density, indexesOf, type Mark, ranked, type Run } from './run.ts';

// A mark with its row. `text` describes what happens there.
export interface PlacedMark extends Mark {
  end: number;
  row: number;
}

// The occurrences of a finding in one part of the run.
export interface DensePart {
  from: number; // ns
  to: number;
  share: number; // of the part's time
}

export interface PlacedDensity {
  finding: number;
  row: number;
  parts: DensePart[];
  most: number; // the greatest share
}

const kMostRows = 4; // further marks share the last row

// The times that are taken on the rows of the lane.
class Rows {
  private readonly taken: { from: number; to: number }[][] = [];

  // Takes a time on the first row on which it is free. Returns the row.
  take(from: number, to: number): number {
    const free = this.taken.findIndex((row) =>
      row.every((other) => other.to <= from || other.from >= to),
    );
    const row = Math.min(free >= 0 ? free : this.taken.length, kMostRows - 1);
    (this.taken[row] ??= []).push({ from, to });
    return row;
  }
}

// Returns the marks and densities of all findings. The marks of a finding with a density are on its
// row.
export function placed(run: Run): { marks: PlacedMark[]; densities: PlacedDensity[] } {
  const rows = new Rows();
  const { toFix, seen } = ranked(run.report.findings);
  const marks: PlacedMark[] = [];
  const densities: PlacedDensity[] = [];
  for (const finding of indexesOf([...toFix, ...seen])) {
    const density = run.densities.find((density) => density.finding === finding);
    const row = density && rows.take(density.begins_ns[0], density.end_ns);
    if (density) densities.push({ finding, row: row!, ...partsOf(density) });
    for (const mark of run.marks
      .filter((mark) => mark.finding === finding)
      .sort((a, b) => a.ts_ns - b.ts_ns)) {
      const end = mark.ts_ns + (mark.dur_ns ?? 0);
      marks.push({ ...mark, end, row: row ?? rows.take(mark.ts_ns, end), text: textOf(run, mark) });
    }
  }
  return { marks, densities };
}

function partsOf({ begins_ns, end_ns, ns }: Density): { parts: DensePart[]; most: number } {
  const parts = begins_ns.map((from, i) => {
    const to = begins_ns[i + 1] ?? end_ns;
    return { from, to, share: Math.min(1, ns[i] / Math.max(1, to - from)) };
  });
  return { parts, most: Math.max(...parts.map(({ share }) => share)) };
}

// Returns the mark's text. If it is only its finding's kind, returns the text of the evidence at
// that time, or else the finding's title.
function textOf({ report, span }: Run, mark: Mark): string {
  const finding = report.findings[mark.finding];
  if (mark.text !== finding.kind) return mark.text;
  const origin = Number(span.origin_ns);
  const shown = finding.evidence.find(
    ({ ts_ns }) => ts_ns !== null && ts_ns - origin === mark.ts_ns,
  );
  return shown?.text || finding.title;
}

export function marksOf(marks: PlacedMark[], finding: number | null): PlacedMark[] {
  return finding === null ? [] : marks.filter((mark) => mark.finding === finding);
}

const kFarShorter = 1000; // factor

// Returns a finding's marks, longest first, without those that are far shorter than the longest.
export function placesOf(marks: PlacedMark[], finding: number | null): PlacedMark[] {
  const length = (mark: PlacedMark) => mark.end - mark.ts_ns;
  const sorted = marksOf(marks, finding).sort((a, b) => length(b) - length(a) || a.ts_ns - b.ts_ns);
  return sorted.filter((mark) => length(mark) * kFarShorter >= length(sorted[0]));
}

// Returns the lane of a mark's evidence: the mark's own lane, or else the first lane of the device
// that the finding's title names. Returns null if there is none.
export function laneOf({ lanes, report }: Run, mark: PlacedMark): number | null {
  const { kind, title } = report.findings[mark.finding];
  if (mark.lane !== null || !kind.startsWith('device_')) return mark.lane;
  const told = lanes.filter(({ device }) => device !== null && title.includes(device));
  const longest = Math.max(...told.map(({ device }) => device!.length)); // TPU:10, not TPU:1
  return told.find(({ device }) => device!.length === longest)?.id ?? null;
}
