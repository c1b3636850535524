// The arguments of a file's events (docs/formats/view.md, section In a file).
import { Bytes } from './bytes.ts';

type Argument = [key: string, value: string, type: string];

const types = ['int', 'uint', 'double', 'string', 'bytes'];

export class Arguments {
  private readonly ids: number[] = []; // ids of the events with arguments
  private readonly places: number[] = []; // where the arguments of each begin
  private readonly textPlaces = new Map<number, number>();
  private readonly bytes: Bytes;

  // Records the positions only; values are decoded when they are requested.
  constructor(data: Uint8Array) {
    this.bytes = new Bytes(data);
    if (data.length === 0) return;
    const { bytes } = this;
    for (let id = 0; ; ) {
      const apart = bytes.zigzag();
      id += apart;
      if (apart === 0 || id === 0) break;
      this.ids.push(id);
      this.places.push(bytes.at);
      for (let n = bytes.varint(); n > 0; --n) {
        bytes.varint();
        const type = bytes.varint();
        if (type === 2) bytes.skip(8);
        else bytes.varint();
      }
    }
    for (let n = bytes.count(); n > 0; --n) {
      this.textPlaces.set(bytes.varint(), bytes.at);
      bytes.skip(bytes.varint());
    }
  }

  of(id: number): Argument[] {
    const index = indexIn(this.ids, id);
    if (index === null) return [];
    const { bytes } = this;
    bytes.at = this.places[index];
    return Array.from({ length: bytes.varint() }, () => {
      const key = this.text(bytes.varint());
      const type = bytes.varint();
      return [key, this.value(type), types[type] ?? 'unknown'];
    });
  }

  private value(type: number): string {
    if (type === 0) return this.bytes.bigZigzag().toString();
    if (type === 1) return this.bytes.bigVarint().toString();
    if (type === 2) return this.bytes.double().toString();
    return this.text(this.bytes.varint());
  }

  // Reads a text, and leaves the position unchanged.
  private text(id: number): string {
    const { bytes } = this;
    const place = this.textPlaces.get(id);
    if (place === undefined) return '';
    const back = bytes.at;
    bytes.at = place;
    const text = bytes.text();
    bytes.at = back;
    return text;
  }
}

// Returns the index of `wanted` in sorted `ids`, or null.
function indexIn(ids: number[], wanted: number): number | null {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ids[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return ids[low] === wanted ? low : null;
}
