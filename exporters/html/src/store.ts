// A value that tells its listeners when parts of it change.
import { useEffect, useRef, useState } from 'preact/hooks';

export class Store<T extends object> {
  private readonly listeners = new Set<(changed: Partial<T>) => void>();

  constructor(public state: T) {}

  set(changed: Partial<T>): void {
    this.state = { ...this.state, ...changed };
    for (const listener of [...this.listeners]) listener(changed);
  }

  // Returns what ends it.
  subscribe(listener: (changed: Partial<T>) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

// What `select` makes of the state; the component is drawn again only when that is another.
export function useStore<T extends object, R>(store: Store<T>, select: (state: T) => R): R {
  const selected = select(store.state);
  const [, redraw] = useState({});
  const latest = useRef({ select, selected });
  latest.current = { select, selected };
  useEffect(() => {
    const look = () => {
      const { select, selected } = latest.current;
      if (!Object.is(select(store.state), selected)) redraw({});
    };
    look();
    return store.subscribe(look);
  }, [store]);
  return selected;
}
