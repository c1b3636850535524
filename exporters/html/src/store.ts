// A state that notifies its listeners when parts of it change.
import { useEffect, useRef, useState } from 'preact/hooks';

export class Store<T extends object> {
  private readonly listeners = new Set<(changed: Partial<T>) => void>();

  constructor(public state: T) {}

  set(changed: Partial<T>): void {
    this.state = { ...this.state, ...changed };
    for (const listener of [...this.listeners]) listener(changed);
  }

  // Adds a listener. Returns a function that removes it.
  subscribe(listener: (changed: Partial<T>) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

// Returns the part of the state that `select` returns. The component is drawn again only when that
// part changes.
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
