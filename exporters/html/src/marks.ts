// Arranges findings' marks. Marks that overlap are placed in different rows, the most expensive on
// top.
import { indexesOf, type Mark, ranked, type Run } from './run.ts';

// A mark with its row. `text` describes what happens there.
export interface PlacedMark extends Mark {
  end: number;
  row: number;
}

const kMostRows = 4; // further marks share the last row

export function placedMarks(run: Run): PlacedMark[] {
  const rows: PlacedMark[][] = [];
  const { toFix, seen } = ranked(run.report.findings);
  const rank = new Map(indexesOf([...toFix, ...seen]).map((index, rank) => [index, rank]));
  const sorted = [...run.marks].sort(
    (a, b) => rank.get(a.finding)! - rank.get(b.finding)! || a.ts_ns - b.ts_ns,
  );
  return sorted.map((mark) => {
    const end = mark.ts_ns + (mark.dur_ns ?? 0);
    const free = rows.findIndex((row) =>
      row.every((other) => other.end <= mark.ts_ns || other.ts_ns >= end),
    );
    const row = Math.min(free >= 0 ? free : rows.length, kMostRows - 1);
    const placed = { ...mark, end, row, text: textOf(run, mark) };
    (rows[row] ??= []).push(placed);
    return placed;
  });
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
