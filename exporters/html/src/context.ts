// Gives every component access to the viewer and the frames.
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Frames } from './frames.ts';
import type { State } from './state.ts';
import { useStore } from './store.ts';
import type { Viewer } from './viewer.ts';

export interface Shared {
  viewer: Viewer;
  frames: Frames;
}

export const SharedContext = createContext<Shared | null>(null);

export function useShared(): Shared {
  return useContext(SharedContext)!;
}

export function useViewer(): Viewer {
  return useShared().viewer;
}

export function useShown<R>(select: (state: State) => R): R {
  return useStore(useViewer().store, select);
}
