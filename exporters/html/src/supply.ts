// Caches parts of lanes, and requests the parts that the window needs: three times the window's
// width, at a resolution of half a pixel. A part is kept until a better one arrives. Only one
// request runs at a time.
import { sizeOf } from './levels.ts';
import type { LanePart, SlicesAsked, Source } from './source.ts';

const kPause = 60; // ms between requests
const kPauseAfterFailure = 2000;
const kManySlices = 8192; // a part with fewer slices is never too fine
const kMostKept = 1_500_000; // slices of lanes that are not shown

interface Wanted {
  lanes: number[];
  from: number;
  to: number;
  perPixel: number; // ns
}

export class Supply {
  readonly parts = new Map<number, LanePart>();
  // The least and greatest value of each counter seen so far, so that its scale does not jump.
  readonly extents = new Map<number, [least: number, greatest: number]>();
  // The finest resolution that the source has of a lane, if it is coarser than what was requested.
  private readonly finest = new Map<number, number>();
  private asking: { asked: SlicesAsked; abort: AbortController } | null = null;
  private next: Wanted | null = null;
  private waiting = false;

  // Calls `arrived` when there is more to draw, and `failed` when a request fails.
  constructor(
    private readonly source: Source,
    private readonly arrived: () => void,
    private readonly failed: (error: Error) => void,
  ) {}

  // Sets the part that is shown now. This is cheap, because it is called before each frame is
  // drawn.
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
        // A frame that is drawn later sends the request again.
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

// Returns an empty part for a lane that the answer omits, so that it is not requested again.
function nothingIn(lane: number): LanePart {
  return { lane, from: -Infinity, to: Infinity, resolution: 0, rows: [], samples: null };
}

// Returns a power of two, so that cells stay the same while the window moves; or 0 below 1024 ns,
// so that nothing is merged.
function coarsest(ns: number): number {
  return ns < 1024 ? 0 : 2 ** Math.floor(Math.log2(ns));
}

function isOutdated(asked: SlicesAsked, { from, to, perPixel }: Wanted): boolean {
  return asked.to < from || asked.from > to || asked.resolution > 4 * perPixel;
}
