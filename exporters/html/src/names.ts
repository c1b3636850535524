// Numbers the names of events from 0, in the order in which they are met. So arrays can hold the
// data of names: their texts, their colours, and whether they match the search.

export class Names {
  private readonly indexOf = new Map<number, number>();
  private readonly texts: string[] = [];

  get count(): number {
    return this.texts.length;
  }

  // Returns the index of the name with the store's `id`.
  index(id: number): number {
    let index = this.indexOf.get(id);
    if (index === undefined) {
      index = this.texts.length;
      this.indexOf.set(id, index);
      this.texts.push('');
    }
    return index;
  }

  // Sets the text of the name with the store's `id`.
  set(id: number, text: string): void {
    this.texts[this.index(id)] = text;
  }

  text(index: number): string {
    return this.texts[index] ?? '';
  }
}
