// The names of events, numbered from 0 in the order in which they are met, so that what is known of
// a name (its text, its colour, whether it was searched for) is an array's element.

export class Names {
  private readonly indexOf = new Map<number, number>();
  private readonly texts: string[] = [];

  get count(): number {
    return this.texts.length;
  }

  // The index of the name with the store's `id`.
  index(id: number): number {
    let index = this.indexOf.get(id);
    if (index === undefined) {
      index = this.texts.length;
      this.indexOf.set(id, index);
      this.texts.push('');
    }
    return index;
  }

  // Sets what the name with the store's `id` is.
  set(id: number, text: string): void {
    this.texts[this.index(id)] = text;
  }

  text(index: number): string {
    return this.texts[index] ?? '';
  }
}
