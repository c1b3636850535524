// Keeps what is known of lanes, and asks for what the window needs: three times as wide, at half a
// pixel. What was drawn is kept until something better comes; one question is asked at a time.
import { sizeOf } from './levels.ts';
import type { LanePart, SlicesAsked, Source } from './source.ts';

const kPause = 60; // ms between questions
const kPauseAfterFailure = 2000;
const kManySlices = 8192; // a part with fewer is never too fine
const kMostKept = 1_500_000; // slices of lanes that are not shown

interface Wanted {
  lanes: number[];
  from: number;
  to: number;
  perPixel: number; // ns
}

export class Supply {
  readonly parts = new Map<number, LanePart>();
  // Least and greatest value of each counter that were ever seen, so that its scale does not jump.
  readonly extents = new Map<number, [least: number, greatest: number]>();
  // The finest that the source has of a lane, where that is not what was asked for.
  private readonly finest = new Map<number, number>();
  private asking: { asked: SlicesAsked; abort: AbortController } | null = null;
  private next: Wanted | null = null;
  private waiting = false;

  // `arrived` is called when there is more to draw, `failed` when the source does not answer.
  constructor(
    private readonly source: Source,
    private readonly arrived: () => void,
    private readonly failed: (error: Error) => void,
  ) {}

  // What is shown now. Cheap: called before each picture.
  want(wanted: Wanted): void {
    this.next = wanted;
    if (this.lacking(wanted).length === 0) return;
    if (this.asking !== null) {
      if (isOutdated(this.asking.asked, wanted)) this.asking.abort.abort();
      return;
    }
    if (this.waiting) return;
    this.waiting = true;
    queueMicrotask(() => {
      this.waiting = false;
      void this.ask();
    });
  }

  private lacking({ lanes, from, to, perPixel }: Wanted): number[] {
    const end = this.source.run.span.end_ns;
    const [first, last] = [Math.max(from, 0), Math.min(to, end)];
    return lanes.filter((lane) => {
      const part = this.parts.get(lane);
      if (part === undefined) return true;
      if (first < last && (part.from > first || part.to < last)) return true;
      return (
        part.resolution > Math.max(perPixel, this.finest.get(lane) ?? 0) ||
        (part.resolution * 32 < perPixel && sizeOf(part) > kManySlices)
      );
    });
  }

  private async ask(): Promise<void> {
    const wanted = this.next!;
    const lanes = this.lacking(wanted);
    if (lanes.length === 0) return;
    const width = wanted.to - wanted.from;
    const end = this.source.run.span.end_ns;
    const asked = {
      lanes,
      from: Math.min(Math.max(wanted.from - width, 0), end),
      to: Math.max(Math.min(wanted.to + width, end), 0),
      resolution: coarsest(wanted.perPixel / 2),
    };
    const abort = new AbortController();
    this.asking = { asked, abort };
    try {
      const unknown = new Set(lanes);
      for (const part of await this.source.slices(asked, abort.signal)) {
        this.keep(part);
        unknown.delete(part.lane);
        if (part.resolution > asked.resolution) this.finest.set(part.lane, part.resolution);
      }
      for (const lane of unknown) this.keep(nothingIn(lane));
      this.forgetHidden(wanted.lanes);
      this.arrived();
    } catch (error) {
      if (!abort.signal.aborted) {
        // The next picture asks again, later.
        this.waiting = true;
        setTimeout(() => (this.waiting = false), kPauseAfterFailure);
        this.failed(error as Error);
        return;
      }
    } finally {
      this.asking = null;
    }
    if (this.lacking(this.next!).length === 0) return;
    this.waiting = true;
    setTimeout(() => {
      this.waiting = false;
      void this.ask();
    }, kPause);
  }

  private keep(part: LanePart): void {
    this.parts.set(part.lane, part);
    if (part.samples === null) return;
    let [least, greatest] = this.extents.get(part.lane) ?? [0, 0];
    for (const value of part.samples.least) if (value < least) least = value;
    for (const value of part.samples.greatest) if (value > greatest) greatest = value;
    this.extents.set(part.lane, [least, greatest]);
  }

  private forgetHidden(shown: number[]): void {
    let kept = 0;
    for (const part of this.parts.values()) kept += sizeOf(part);
    for (const [lane, part] of this.parts) {
      if (kept <= kMostKept) return;
      if (shown.includes(lane)) continue;
      this.parts.delete(lane);
      kept -= sizeOf(part);
    }
  }
}

// Stands for a lane of which the source says nothing, so that it is not asked again.
function nothingIn(lane: number): LanePart {
  return { lane, from: -Infinity, to: Infinity, resolution: 0, rows: [], samples: null };
}

// A power of two, so that cells are the same ones while the window moves; below a µs nothing is merged.
function coarsest(ns: number): number {
  return ns < 1024 ? 0 : 2 ** Math.floor(Math.log2(ns));
}

function isOutdated(asked: SlicesAsked, { from, to, perPixel }: Wanted): boolean {
  return asked.to < from || asked.from > to || asked.resolution > 4 * perPixel;
}
