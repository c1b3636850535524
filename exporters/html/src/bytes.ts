// Reads the binary answers of docs/formats/view.md, which consist of LEB128 integers, zigzag
// integers, doubles and UTF-8.

const utf8 = new TextDecoder();

export class Bytes {
  at = 0;
  private readonly view: DataView;

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  // Reads an integer, which is exact up to 2^53.
  varint(): number {
    const { bytes } = this;
    let byte = bytes[this.at++];
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    let scale = 0x80;
    do {
      if (this.at >= bytes.length) throw new Error('the data ends inside a number');
      byte = bytes[this.at++];
      value += (byte & 0x7f) * scale;
      scale *= 0x80;
    } while (byte >= 0x80);
    return value;
  }

  zigzag(): number {
    const value = this.varint();
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  }

  // Reads an integer with all its 64 bits.
  bigVarint(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      if (this.at >= this.bytes.length) throw new Error('the data ends inside a number');
      const byte = this.bytes[this.at++];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
  }

  bigZigzag(): bigint {
    const value = this.bigVarint();
    return (value >> 1n) ^ -(value & 1n);
  }

  double(): number {
    const value = this.view.getFloat64(this.at, true);
    this.at += 8;
    return value;
  }

  text(): string {
    const length = this.varint();
    this.skip(length);
    return utf8.decode(this.bytes.subarray(this.at - length, this.at));
  }

  skip(length: number): void {
    this.at += length;
    if (!(this.at <= this.bytes.length)) throw new Error('the data ends early');
  }

  // Reads a count of items of at least one byte each. Refuses a count that exceeds the remaining
  // data, so that nothing of that size is allocated.
  count(): number {
    const count = this.varint();
    if (!(count <= this.bytes.length - this.at)) throw new Error('the data ends early');
    return count;
  }
}
