// Keeps the page's address equal to a link to the current view.
import { hashOf } from './hash.ts';
import type { Viewer } from './viewer.ts';

const kPause = 200; // ms: browsers refuse pages that change their address too often

export function keepLink(viewer: Viewer): void {
  let timer = 0;
  viewer.store.subscribe(() => {
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      const hash = hashOf(viewer.store.state);
      try {
        if (hash !== location.hash) history.replaceState(null, '', hash);
      } catch {
        // A page in a frame of a notebook has no address of its own.
      }
    }, kPause);
  });
  // The user entered another link.
  window.addEventListener('hashchange', () => viewer.follow(location.hash));
}
