// The source that is the page's own file: it holds everything, and answers for itself.
import { Arguments } from './arguments.ts';
import { decodeSlices } from './decode.ts';
import { Flows } from './flows.ts';
import { LaneLevels } from './levels.ts';
import { Names } from './names.ts';
import type { Run } from './run.ts';
import {
  type EventDetail,
  type EventPlace,
  type Found,
  kNeverEnded,
  type LanePart,
  type RangeTotals,
  type SearchAsked,
  type SlicesAsked,
  type Source,
} from './source.ts';
import { TotalsByName } from './totals.ts';

// What the file holds, each inflated when it is first needed.
export interface Blocks {
  slices(): Promise<Uint8Array>;
  arguments(): Promise<Uint8Array>;
  flows(): Promise<Uint8Array>;
}

interface Place {
  lane: number;
  row: number;
  index: number;
}

export class EmbeddedSource implements Source {
  readonly names = new Names();
  private readonly lanes = new Map<number, LaneLevels>();
  private args: Promise<Arguments> | null = null;
  private arrows: Promise<Flows> | null = null;

  private constructor(
    readonly run: Run,
    private readonly blocks: Blocks,
  ) {}

  static async open(run: Run, blocks: Blocks): Promise<EmbeddedSource> {
    const source = new EmbeddedSource(run, blocks);
    for (const part of decodeSlices(await blocks.slices(), source.names))
      source.lanes.set(part.lane, new LaneLevels(part));
    return source;
  }

  async slices(asked: SlicesAsked): Promise<LanePart[]> {
    return this.asked(asked.lanes).map((lane) => lane.at(asked.resolution));
  }

  async event(id: number): Promise<EventDetail> {
    const place = this.find(id);
    if (place === null) throw new Error(`no event ${id}`);
    this.args ??= this.blocks.arguments().then((bytes) => new Arguments(bytes));
    this.arrows ??= this.blocks.flows().then((bytes) => new Flows(bytes));
    const [args, arrows] = [await this.args, await this.arrows];
    const rows = this.lanes.get(place.lane)!.whole.rows;
    const row = rows[place.row];
    const sums = new TotalsByName(-Infinity, Infinity, this.run.span.end_ns, row.name[place.index]);
    sums.add(rows);
    return {
      ...this.placeOf(place),
      category: this.run.categories[row.category[place.index]] ?? '',
      arguments: args.of(id),
      flows: arrows.of(id).flatMap(({ direction, other }) => {
        const end = this.find(other);
        return end === null ? [] : [{ direction, event: this.placeOf(end) }];
      }),
      totals: sums.totals(this.names, this.run.categories).rows[0] ?? null,
    };
  }

  async range(lanes: number[], from: number, to: number): Promise<RangeTotals> {
    const sums = new TotalsByName(from, to, this.run.span.end_ns);
    for (const lane of this.asked(lanes)) sums.add(lane.whole.rows);
    return sums.totals(this.names, this.run.categories);
  }

  async search({ text, direction, ts, id }: SearchAsked): Promise<Found> {
    const names = this.namesWith(text);
    const wanted = new Uint8Array(this.names.count);
    for (const name of names) wanted[name] = 1;
    let count = 0;
    let before = 0; // matches that don't lie behind (ts, id)
    // The nearest in the direction, and the one that comes where there is none: the first or last.
    let nearest: Place | null = null;
    let wrapped: Place | null = null;
    const forward = direction === 'next';
    for (const place of this.all(wanted)) {
      ++count;
      const order = this.compare(place, ts, id);
      if (forward ? order <= 0 : order < 0) ++before;
      const ahead = forward ? order > 0 : order < 0;
      if (ahead && (nearest === null || this.isBefore(place, nearest) === forward)) nearest = place;
      if (wrapped === null || this.isBefore(place, wrapped) === forward) wrapped = place;
    }
    const found = nearest ?? wrapped;
    const index = forward
      ? nearest === null
        ? 0
        : before
      : (nearest === null ? count : before) - 1;
    if (found === null) return { count, index: null, names, event: null };
    return { count, index, names, event: this.placeOf(found) };
  }

  private namesWith(text: string): number[] {
    if (text === '') return [];
    const wanted = asciiLower(text);
    const names: number[] = [];
    for (let i = 0; i < this.names.count; ++i)
      if (asciiLower(this.names.text(i)).includes(wanted)) names.push(i);
    return names;
  }

  private *all(wanted: Uint8Array): Generator<Place> {
    for (const [lane, { whole }] of this.lanes)
      for (let row = 0; row < whole.rows.length; ++row) {
        const { name } = whole.rows[row];
        for (let index = 0; index < name.length; ++index)
          if (wanted[name[index]] === 1) yield { lane, row, index };
      }
  }

  private compare(place: Place, ts: number, id: number): number {
    const row = this.row(place);
    return row.ts[place.index] - ts || row.id[place.index] - id;
  }

  private isBefore(a: Place, b: Place): boolean {
    const row = this.row(b);
    return this.compare(a, row.ts[b.index], row.id[b.index]) < 0;
  }

  private row({ lane, row }: Place) {
    return this.lanes.get(lane)!.whole.rows[row];
  }

  private find(id: number): Place | null {
    for (const [lane, { whole }] of this.lanes)
      for (let row = 0; row < whole.rows.length; ++row) {
        const index = whole.rows[row].id.indexOf(id);
        if (index >= 0) return { lane, row, index };
      }
    return null;
  }

  private placeOf(place: Place): EventPlace {
    const row = this.row(place);
    const dur = row.dur[place.index];
    return {
      id: row.id[place.index],
      lane: place.lane,
      row: place.row,
      ts_ns: row.ts[place.index],
      dur_ns: dur === kNeverEnded ? null : dur,
      name: this.names.text(row.name[place.index]),
    };
  }

  private asked(lanes: number[]): LaneLevels[] {
    return lanes.flatMap((id) => this.lanes.get(id) ?? []);
  }
}

function asciiLower(text: string): string {
  return text.replace(/[A-Z]/g, (c) => c.toLowerCase());
}
