// The source for a page that contains its run. It answers all requests from the file itself.
import { Arguments } from './arguments.ts';
import { decodeSlices } from './decode.ts';
import { Flows } from './flows.ts';
import { LaneLevels } from './levels.ts';
import { TotalsOfLanes } from './lane_totals.ts';
import { Names } from './names.ts';
import { type Conclusions, kNoConclusions, type Outline, type Run } from './run.ts';
import {
  type EventDetail,
  type EventPlace,
  type Found,
  kNeverEnded,
  type LanePart,
  type RangeTotals,
  type SearchAsked,
  type SliceRow,
  type SlicesAsked,
  type Source,
  type Totals,
} from './source.ts';
import { TotalsByName } from './totals.ts';

// The data blocks of the file. Each is inflated when it is first needed.
export interface Blocks {
  findings(): Conclusions;
  slices(): Promise<Uint8Array>;
  totals(): Promise<Uint8Array>; // of merged lanes
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
  private totals: Promise<TotalsOfLanes> | null = null;
  private args: Promise<Arguments> | null = null;
  private arrows: Promise<Flows> | null = null;

  run: Run;

  private constructor(
    outline: Outline,
    private readonly blocks: Blocks,
  ) {
    this.run = { ...outline, ...kNoConclusions };
  }

  static async open(outline: Outline, blocks: Blocks): Promise<EmbeddedSource> {
    const source = new EmbeddedSource(outline, blocks);
    for (const part of decodeSlices(await blocks.slices(), source.names))
      source.lanes.set(part.lane, new LaneLevels(part));
    return source;
  }

  get mergedBelow(): number {
    const whole = [...this.lanes.values()].map((lane) => lane.whole);
    return Math.max(0, ...whole.map(({ samples, resolution }) => (samples ? 0 : resolution)));
  }

  async conclude(): Promise<void> {
    this.run = { ...this.run, ...this.blocks.findings() };
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
    const row = this.row(place);
    const merged = row.count[place.index];
    return {
      ...this.placeOf(place),
      ...(merged > 1 && { merged }),
      category: this.run.categories[row.category[place.index]] ?? '',
      arguments: args.of(id),
      flows: arrows.of(id).flatMap(({ direction, other }) => {
        const end = this.find(other);
        return end === null ? [] : [{ direction, event: this.placeOf(end) }];
      }),
      totals: await this.totalsOf(place.lane, row.name[place.index]),
    };
  }

  // Returns the totals of one name on one lane.
  private async totalsOf(lane: number, name: number): Promise<Totals | null> {
    const { rows, resolution } = this.lanes.get(lane)!.whole;
    const end = this.run.span.end_ns;
    const sums = new TotalsByName(0, end + 1, end, name);
    if (resolution === 0) sums.add(rows);
    else {
      const totals = (await this.mergedTotals()).ofName(lane, name);
      if (totals !== null) sums.addWhole([totals]);
    }
    return sums.totals(this.names, this.run.categories).rows[0] ?? null;
  }

  async range(lanes: number[], from: number, to: number): Promise<RangeTotals> {
    const { end_ns } = this.run.span;
    const sums = new TotalsByName(from, to, end_ns);
    const totals = await this.mergedTotals();
    for (const { whole } of this.asked(lanes)) {
      const isAll = from <= 0 && to >= end_ns;
      if (whole.resolution > 0 && isAll) sums.addWhole(totals.of(whole.lane));
      else sums.add(whole.rows, whole.resolution);
    }
    return sums.totals(this.names, this.run.categories);
  }

  private mergedTotals(): Promise<TotalsOfLanes> {
    this.totals ??= this.blocks.totals().then((bytes) => new TotalsOfLanes(bytes, this.names));
    return this.totals;
  }

  async search({ text, direction, ts, id }: SearchAsked): Promise<Found> {
    const totals = await this.mergedTotals();
    const names = this.namesWith(text);
    const wanted = new Uint8Array(this.names.count);
    for (const name of names) wanted[name] = 1;
    const sign = direction === 'next' ? 1 : -1;
    let count = 0;
    let events = totals.countOf(names); // of merged lanes, and below of the others
    let before = 0; // number of matches before (ts, id)
    let upTo = 0; // number of matches before or at (ts, id)
    let ahead: Place | null = null; // the nearest match in the direction
    let around: Place | null = null; // the match to use if none is ahead: the first or the last
    for (const [lane, { whole }] of this.lanes)
      for (let row = 0; row < whole.rows.length; ++row) {
        const slices = whole.rows[row];
        for (let index = 0; index < slices.name.length; ++index) {
          if (wanted[slices.name[index]] !== 1) continue;
          ++count;
          if (events !== null && whole.resolution === 0) ++events;
          const order = slices.ts[index] - ts || slices.id[index] - id;
          if (order < 0) ++before;
          if (order <= 0) ++upTo;
          const best: Place | null = order * sign > 0 ? ahead : around;
          if (best !== null && this.order(slices, index, best) * sign > 0) continue;
          if (order * sign > 0) ahead = { lane, row, index };
          else around = { lane, row, index };
        }
      }
    const found = ahead ?? around;
    const hidden = this.mergedBelow > 0 ? { events } : {};
    if (found === null) return { count, index: null, names, event: null, ...hidden };
    const event = this.placeOf(found);
    const index = sign > 0 ? (ahead === null ? 0 : upTo) : (ahead === null ? count : before) - 1;
    return { count, index, names, event, ...hidden };
  }

  private namesWith(text: string): number[] {
    if (text === '') return [];
    const wanted = asciiLower(text);
    const names: number[] = [];
    for (let i = 0; i < this.names.count; ++i)
      if (asciiLower(this.names.text(i)).includes(wanted)) names.push(i);
    return names;
  }

  // Compares by start, then by id. Returns a negative number if the slice comes before the other.
  private order(slices: SliceRow, index: number, other: Place): number {
    const row = this.row(other);
    return slices.ts[index] - row.ts[other.index] || slices.id[index] - row.id[other.index];
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
